// run: hello
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct buffer {
    char *data;
    size_t len;
};

static int append(struct buffer *b, const char *s) {
    size_t n = strlen(s);
    b->data = realloc(b->data, b->len + n + 1);
    if (!b->data)
        return -1;
    memcpy(b->data + b->len, s, n + 1);
    b->len += n;
    return 0;
}

int main(int argc, char **argv) {
    struct buffer b = {NULL, 0};
    if (append(&b, argc > 1 ? argv[1] : "x") || append(&b, "!"))
        return 1;
    puts(b.data);
    free(b.data);
    return 0;
}
