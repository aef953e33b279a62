// run: 9
// run: 2
#include <stdio.h>
#include <stdlib.h>

static int find(int n) {
    for (int i = 0; i < 5; i++) {
        int *square = malloc(sizeof *square);
        if (!square)
            return -1;
        *square = i * i;
        if (*square == n) {
            free(square);
            return i;
        }
        free(square);
    }
    return -1;
}

int main(int argc, char **argv) {
    printf("%d\n", find(argc > 1 ? atoi(argv[1]) : 4));
    return 0;
}
