// object: the function is in another program part
// left alone: a function that is not known gets the object
#include <stdlib.h>
#include <string.h>

int keep_or_not(char *text);

int work(const char *s) {
    char *copy = strdup(s);
    if (!copy)
        return -1;
    return keep_or_not(copy);
}
