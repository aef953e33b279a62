// left alone: the process ends
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int work(const char *s) {
    char *copy = strdup(s);
    if (!copy)
        return -1;
    if (copy[0] == 'x')
        exit(0);
    puts(copy);
    free(copy);
    return 0;
}

int main(int argc, char **argv) {
    return work(argc > 1 ? argv[1] : "word");
}
