// run: 3
// run: 30
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void label(int n) {
    char *text = strdup("small");
    if (n > 10)
        text = strdup("large");
    if (text)
        puts(text);
    free(text);
}

int main(int argc, char **argv) {
    label(argc > 1 ? atoi(argv[1]) : 4);
    return 0;
}
