// run: 1
// run: 0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int work(int keep) {
    char *text = strdup("text");
    if (!text)
        return -1;
    if (keep) {
        puts(text);
        free(text);
    } else {
        free(text);
    }
    return keep;
}

int main(int argc, char **argv) {
    return work(argc > 1 ? atoi(argv[1]) : 1) < 0;
}
