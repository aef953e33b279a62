// run: 6
#include <stdio.h>
#include <stdlib.h>

static int work(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        int *box = malloc(sizeof *box);
        if (!box)
            break;
        *box = i;
        if (i % 3 == 0) {
            free(box);
            continue;
        }
        sum += *box;
        free(box);
    }
    return sum;
}

int main(int argc, char **argv) {
    printf("%d\n", work(argc > 1 ? atoi(argv[1]) : 4));
    return 0;
}
