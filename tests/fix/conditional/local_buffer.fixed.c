// run: short
// run: a-rather-long-word
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int work(const char *s) {
    char small[8];
    char *text = small;
    size_t n = strlen(s) + 1;
    if (n > sizeof small) {
        text = malloc(n);
        if (!text)
            return -1;
    }
    memcpy(text, s, n);
    puts(text);
    if (text != small)
        free(text);
    return (int)n;
}

int main(int argc, char **argv) {
    return work(argc > 1 ? argv[1] : "default") < 0;
}
