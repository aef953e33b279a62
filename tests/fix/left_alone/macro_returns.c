// left alone: the return is inside a macro that other paths go through
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(x)                                                                                   \
    do {                                                                                           \
        if (!(x))                                                                                  \
            return -1;                                                                             \
    } while (0)

static int work(const char *s) {
    char *copy = strdup(s);
    CHECK(copy);
    CHECK(strlen(copy) > 2);
    puts(copy);
    free(copy);
    return 0;
}

int main(int argc, char **argv) {
    return work(argc > 1 ? argv[1] : "word");
}
