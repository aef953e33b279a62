// run: 5
// run: 50
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

static int work(int n) {
    char *line;
    if (asprintf(&line, "number %d", n) < 0)
        return -1;
    if (n > 10) {
        free(line);
        return 1;
    }
    puts(line);
    free(line);
    return 0;
}

int main(int argc, char **argv) {
    return work(argc > 1 ? atoi(argv[1]) : 4) < 0;
}
