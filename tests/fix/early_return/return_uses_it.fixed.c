// run: word
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t measure(const char *s) {
    char *copy = strdup(s);
    if (!copy)
        return 0;
    copy[0] = 'X';
    size_t result = strlen(copy);
    free(copy);
    return result;
}

int main(int argc, char **argv) {
    printf("%zu\n", measure(argc > 1 ? argv[1] : "default"));
    return 0;
}
