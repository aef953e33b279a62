// run: word
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void greet(const char *name) {
    char *line = malloc(strlen(name) + 8);
    if (line) {
        sprintf(line, "hello %s", name);
        puts(line);
        free(line);
    }
}

int main(int argc, char **argv) {
    greet(argc > 1 ? argv[1] : "you");
    return 0;
}
