// left alone: the caller gets it on one path and nobody can tell which
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *keep;

static char *work(const char *s) {
    char *copy = strdup(s);
    if (copy && copy[0] == 'k')
        keep = copy;
    return copy;
}

int main(int argc, char **argv) {
    char *w = work(argc > 1 ? argv[1] : "word");
    if (w && w != keep)
        puts(w);
    if (w != keep)
        free(w);
    free(keep);
    return 0;
}
