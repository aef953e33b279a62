// run: 3
// run: 30
#include <stdio.h>
#include <stdlib.h>

static int half(int n) {
    int *box = malloc(sizeof *box);
    if (!box) { return -1; }
    *box = n / 2;
    if (*box > 10) { puts("big"); return 10; }
    n = *box;
    free(box);
    return n;
}

int main(int argc, char **argv) {
    printf("%d\n", half(argc > 1 ? atoi(argv[1]) : 8));
    return 0;
}
