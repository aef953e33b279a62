// run: 1
// run: 0
#include <stdio.h>
#include <stdlib.h>

static int work(int early) {
    int *box = malloc(sizeof *box);
    if (!box)
        return -1;
    *box = 4;
    if (early)
        return 1;
    else
        printf("%d\n", *box);
    free(box);
    return 0;
}

int main(int argc, char **argv) {
    return work(argc > 1 ? atoi(argv[1]) : 1) < 0;
}
