// left alone: what was there before may also be in the table
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *seen[4];

static int options(char **v, int n, char **out) {
    int i;
    if (out != NULL)
        *out = NULL;
    for (i = 0; i < n; i++) {
        if (out != NULL && v[i][0] == 'k')
            seen[i % 4] = *out = strdup(v[i] + 1);
        else
            return -1;
    }
    return 0;
}

int main(int argc, char **argv) {
    char *key = NULL;
    int r = options(argv + 1, argc - 1, &key);
    printf("%d %s\n", r, key ? key : "");
    free(key);
    return 0;
}
