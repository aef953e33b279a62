// run: word
// run: w
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int get(const char *s, char **out) {
    *out = strdup(s);
    return *out ? 0 : -1;
}

static int work(const char *s) {
    char *text;
    if (get(s, &text))
        return -1;
    if (strlen(s) < 2) {
        free(text);
        return 1;
    }
    puts(text);
    free(text);
    return 0;
}

int main(int argc, char **argv) {
    return work(argc > 1 ? argv[1] : "default") < 0;
}
