// run: word
// run: xword
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BAIL(p) do { free(p); return -1; } while (0)

int one(const char *a) {
    char *p = strdup(a);
    if (p == NULL)
        return -1;
    if (a[0] == 'x') {
        free(p);
        return 3;
    }
    puts(p);
    BAIL(p);
}

int main(int argc, char **argv) {
    printf("%d\n", one(argc > 1 ? argv[1] : "word"));
    return 0;
}
