// left alone: the author says that it is meant
#include <stdio.h>
#include <stdlib.h>

static int work(int n) {
    int *box = malloc(sizeof *box);
    if (!box)
        return -1;
    *box = n;
    // leakproof: ignore the process ends soon after
    return *box;
}

int main(int argc, char **argv) {
    (void)argv;
    return work(argc) < 0;
}
