// run: word
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int measure(const char *s) {
    int result = 1;
    char *copy = strdup(s);
    if (!copy)
        return result;
    return result + copy[0];
}

int main(int argc, char **argv) {
    printf("%d\n", measure(argc > 1 ? argv[1] : "default"));
    return 0;
}
