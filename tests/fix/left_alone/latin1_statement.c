// left alone: the statement that would have to be said again is not UTF-8
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *join(const char *a, const char *b) {
    char *p = malloc(strlen(a) + strlen(b) + 1);
    if (p == NULL)
        exit(1);
    strcpy(p, a);
    strcat(p, b);
    return p;
}

int main(int argc, char **argv) {
    char *p = join(argv[0], "!");
    if (argc > 5)
        p = join(p, "café");
    puts(p);
    free(p);
    return 0;
}
