// run: word
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *loud(const char *s) {
    char *copy = strdup(s);
    if (copy)
        puts(copy);
    return copy;
}

static void work(const char *s) {
    loud(s);
    puts("done");
}

int main(int argc, char **argv) {
    work(argc > 1 ? argv[1] : "default");
    return 0;
}
