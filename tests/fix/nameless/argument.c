// run: word
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *quoted(const char *s) {
    char *out = malloc(strlen(s) + 3);
    if (!out)
        abort();
    sprintf(out, "'%s'", s);
    return out;
}

static void work(const char *s) {
    puts(quoted(s));
}

int main(int argc, char **argv) {
    work(argc > 1 ? argv[1] : "default");
    return 0;
}
