// run: 1
// run: 0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int work(int loud) {
    if (loud) {
        char *line = strdup("loud");
        if (!line)
            return -1;
        puts(line);
    }
    puts("end");
    return 0;
}

int main(int argc, char **argv) {
    return work(argc > 1 ? atoi(argv[1]) : 1);
}
