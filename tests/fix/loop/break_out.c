// run: 6
#include <stdio.h>
#include <stdlib.h>

static int work(int n) {
    int last = 0;
    while (n-- > 0) {
        int *box = malloc(sizeof *box);
        if (!box)
            return -1;
        *box = n;
        last = *box;
        if (last == 3)
            break;
        free(box);
    }
    return last;
}

int main(int argc, char **argv) {
    printf("%d\n", work(argc > 1 ? atoi(argv[1]) : 4));
    return 0;
}
