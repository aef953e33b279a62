// run: 1
// run: -1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void show(int n) {
    char *line = malloc(32);
    if (!line)
        return;
    if (n < 0) {
        puts("negative");
        free(line);
        return;
    }
    snprintf(line, 32, "n is %d", n);
    puts(line);
    free(line);
}

int main(int argc, char **argv) {
    show(argc > 1 ? atoi(argv[1]) : 4);
    return 0;
}
