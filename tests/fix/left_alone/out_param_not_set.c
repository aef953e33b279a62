// left alone: the first caller passes a variable that is not set
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void set(char **out, const char *s) {
    *out = strdup(s);
}

int main(int argc, char **argv) {
    char *k;
    int i;
    set(&k, "a");
    for (i = 1; i < argc; i++)
        set(&k, argv[i]);
    if (k != NULL)
        puts(k);
    free(k);
    return 0;
}
