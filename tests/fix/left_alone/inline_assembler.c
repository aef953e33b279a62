// left alone: assembler gets the pointer
#include <stdio.h>
#include <stdlib.h>

static int work(int n) {
    int *box = malloc(sizeof *box);
    if (!box)
        return -1;
    *box = n;
    __asm__ volatile("" : : "r"(box) : "memory");
    if (n > 2)
        return 1;
    free(box);
    return 0;
}

int main(int argc, char **argv) {
    return work(argc) < 0;
}
