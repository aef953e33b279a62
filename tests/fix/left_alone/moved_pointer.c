// left alone: the pointer does not point to the start any more
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int work(const char *s) {
    char *p = strdup(s);
    if (!p)
        return -1;
    while (*p == ' ')
        p++;
    return *p;
}

int main(int argc, char **argv) {
    printf("%d\n", work(argc > 1 ? argv[1] : "  word"));
    return 0;
}
