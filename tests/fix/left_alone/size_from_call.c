// left alone: the size cannot be asked for twice
#include <stdio.h>
#include <stdlib.h>

static size_t calls;

static size_t next_size(void) {
    return ++calls * 100;
}

static int grow(void) {
    char *buf = malloc(10);
    if (!buf)
        return -1;
    buf = realloc(buf, next_size());
    if (!buf)
        return -1;
    free(buf);
    return 0;
}

int main(void) {
    return grow();
}
