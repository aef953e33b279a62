// run: a b
// run: a -- b
// A buffer that a function of the program enlarges: the old one is lost there, the last one by a caller.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct buf {
    char *data;
    size_t len, cap;
};

static int buf_add(struct buf *b, const char *s) {
    size_t n = strlen(s);
    if (b->len + n + 1 > b->cap) {
        b->cap = (b->len + n + 1) * 2;
        b->data = realloc(b->data, b->cap);
        if (b->data == NULL)
            return -1;
    }
    memcpy(b->data + b->len, s, n + 1);
    b->len += n;
    return 0;
}

static char *twice(const char *word) {
    struct buf b = {NULL, 0, 0};
    if (buf_add(&b, word) < 0)
        return NULL;
    if (strcmp(word, "--") == 0)
        return NULL;
    if (buf_add(&b, word) < 0)
        return NULL;
    return b.data;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        char *s = twice(argv[i]);
        printf("%s\n", s != NULL ? s : "-");
        free(s);
    }
    return 0;
}
