// run: 3
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void work(int n) {
    for (int i = 0; i < n; i++) {
        char *line = malloc(20);
        if (!line)
            return;
        snprintf(line, 20, "line %d", i);
        puts(line);
    }
}

int main(int argc, char **argv) {
    work(argc > 1 ? atoi(argv[1]) : 2);
    return 0;
}
