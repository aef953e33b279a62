// run: 1
// run: 0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *xmalloc(size_t n) {
    void *p = malloc(n);
    if (!p)
        abort();
    return p;
}

static void xfree(void *p) {
    free(p);
}

static int bad(int early) {
    char *text = xmalloc(10);
    strcpy(text, "text");
    if (early)
        return 1;
    puts(text);
    xfree(text);
    return 0;
}

int main(int argc, char **argv) {
    return bad(argc > 1 ? atoi(argv[1]) : 1) < 0;
}
