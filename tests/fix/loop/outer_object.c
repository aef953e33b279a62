// run: 2
// run: 9
#include <stdio.h>
#include <stdlib.h>

static int find(int n) {
    int *table = calloc(5, sizeof *table);
    if (!table)
        return -1;
    for (int i = 0; i < 5; i++) {
        table[i] = i * 2;
        if (table[i] == n)
            return i;
    }
    free(table);
    return -1;
}

int main(int argc, char **argv) {
    printf("%d\n", find(argc > 1 ? atoi(argv[1]) : 4));
    return 0;
}
