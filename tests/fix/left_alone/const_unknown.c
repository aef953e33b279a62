// object: a function is missing
// left alone: a function that is not known is only assumed not to keep it
#include <stdlib.h>
#include <string.h>

int look(const char *text);

int work(const char *s) {
    char *copy = strdup(s);
    if (!copy)
        return -1;
    return look(copy);
}
