// run: 1
// run: 0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void drop(char **p) {
    free(*p);
    *p = NULL;
}

static int bad(int early) {
    char *text = strdup("text");
    if (!text)
        return -1;
    if (early)
        return 1;
    puts(text);
    drop(&text);
    return 0;
}

int main(int argc, char **argv) {
    return bad(argc > 1 ? atoi(argv[1]) : 1) < 0;
}
