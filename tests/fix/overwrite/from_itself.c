// run: word
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *doubled(const char *s) {
    char *out = malloc(2 * strlen(s) + 1);
    if (!out)
        return NULL;
    strcpy(out, s);
    strcat(out, s);
    return out;
}

static int work(const char *s) {
    char *text = strdup(s);
    if (!text)
        return -1;
    text = doubled(text);
    if (!text)
        return -1;
    puts(text);
    free(text);
    return 0;
}

int main(int argc, char **argv) {
    return work(argc > 1 ? argv[1] : "default");
}
