// run: word
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t measure(const char *s) {
    char *copy = strdup(s);
    if (!copy)
        return 0;
    copy[0] = 'X';
    return strlen(copy);
}

int main(int argc, char **argv) {
    printf("%zu\n", measure(argc > 1 ? argv[1] : "default"));
    return 0;
}
