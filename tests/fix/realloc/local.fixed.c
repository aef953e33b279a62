// run: 4
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int grow(size_t n) {
    char *buf = malloc(n + 1);
    if (!buf)
        return -1;
    buf[0] = 'a';
    char *resized = realloc(buf, n + 100);
    if (resized == NULL && (n + 100) != 0)
        free(buf);
    buf = resized;
    if (!buf)
        return -1;
    printf("%c\n", buf[0]);
    free(buf);
    return 0;
}

int main(int argc, char **argv) {
    return grow(argc > 1 ? (size_t)atoi(argv[1]) : 4);
}
