// left alone: the elements of the table are not told apart
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int work(int n) {
    char *rows[4] = {NULL};
    for (int i = 0; i < 4; i++)
        rows[i] = malloc(8);
    if (n > 1)
        return 1;
    for (int i = 0; i < 4; i++)
        free(rows[i]);
    return 0;
}

int main(int argc, char **argv) {
    return work(argc > 1 ? 2 : 1) < 0;
}
