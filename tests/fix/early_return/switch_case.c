// run: a
// run: b
// run: z
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int command(const char *line) {
    char *copy = strdup(line);
    int r = 0;
    if (!copy)
        return -1;
    switch (copy[0]) {
    case 'a':
        r = 1;
        break;
    case 'b': return 2;
    default:
        return -1;
    }
    free(copy);
    return r;
}

int main(int argc, char **argv) {
    printf("%d\n", command(argc > 1 ? argv[1] : "all"));
    return 0;
}
