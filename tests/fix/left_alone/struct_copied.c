// run: a
// run: a b
// object: others call it
// left alone: the name may be the caller's
#include <stdlib.h>
#include <string.h>

struct options {
    char *name;
    int level;
};

int run(const struct options *given, const char *name, int level) {
    struct options own;
    if (given)
        own = *given;
    else
        own.name = strdup(name);
    own.level = level;
    if (own.level > 3)
        return -1;
    return own.name ? (int)strlen(own.name) : 0;
}
