// left alone: on the branch that returns there is nothing to release
#include <stdio.h>
#include <stdlib.h>

static int work(int n) {
    int *box = malloc(sizeof *box);
    if (box == NULL)
        return -1;
    *box = n;
    n = *box + 1;
    free(box);
    return n;
}

int main(void) {
    printf("%d\n", work(3));
    return 0;
}
