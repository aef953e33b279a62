// run: 3abc2xy
// run: 3abc9xy
// run: 9
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct input {
    const unsigned char *data;
    size_t at, size;
};

static int peek(const struct input *in, const unsigned char **text, size_t *len) {
    if (in->at + 1 > in->size)
        return -3;
    size_t n = (size_t)(in->data[in->at] - '0');
    if (n > 9)
        return -4;
    if (in->at + 1 + n > in->size)
        return -3;
    *text = in->data + in->at + 1;
    *len = n;
    return 0;
}

static int skip(struct input *in, size_t n) {
    if (in->at + n > in->size)
        return -3;
    in->at += n;
    return 0;
}

// So many ways out that the analysis does not tell them apart: but the variable is always set.
static int get_string(struct input *in, char **out, size_t *len_out) {
    const unsigned char *text, *zero;
    size_t len;
    int r;

    if (out != NULL)
        *out = NULL;
    if (len_out != NULL)
        *len_out = 0;
    if ((r = peek(in, &text, &len)) != 0)
        return r;
    if (len > 0 && (zero = memchr(text, '\0', len)) != NULL && zero < text + len - 1)
        return -4;
    if ((r = skip(in, len + 1)) != 0)
        return -1;
    if (out != NULL) {
        if ((*out = malloc(len + 1)) == NULL)
            return -2;
        if (len != 0)
            memcpy(*out, text, len);
        (*out)[len] = '\0';
    }
    if (len_out != NULL)
        *len_out = len;
    return 0;
}

static int names(struct input *in) {
    while (in->at < in->size) {
        char *name = NULL;
        const unsigned char *value;
        size_t n;
        int r;
        if ((r = get_string(in, &name, NULL)) != 0 || (r = peek(in, &value, &n)) != 0)
            return r;
        printf("%s %d\n", name, (int)n);
        free(name);
        in->at += n + 1;
    }
    return 0;
}

int main(int argc, char **argv) {
    const char *s = argc > 1 ? argv[1] : "1a1b";
    struct input in = {(const unsigned char *)s, 0, strlen(s)};
    printf("%d\n", names(&in));
    return 0;
}
