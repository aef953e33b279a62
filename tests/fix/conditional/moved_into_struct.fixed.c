// run: 1a1b
// run: 1a
// The struct releases it at the end on most ways; two error paths come before it is moved there.
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

// Many ways out, but the variable is always set: every call passes one.
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

struct forward {
    char *host, *path, *connect;
    int port, handle;
};

static struct {
    int n;
    struct forward *all;
} options;

static void add(const struct forward *f) {
    options.all = realloc(options.all, sizeof(*f) * (size_t)(options.n + 1));
    if (options.all == NULL)
        abort();
    options.all[options.n++] = *f;
}

static char *format(int type, const struct forward *f) {
    char *text = malloc(30);
    if (text == NULL)
        abort();
    snprintf(text, 30, "%d %s", type, f->host ? f->host : "-");
    return text;
}

static int setup(const struct forward *f) {
    return f->port > 3;
}

static int request(const struct forward *f) {
    return f->port - 4;
}

static int names(struct input *in, int ftype) {
    struct forward fwd;
    char *desc = NULL;
    char *addr, *other = NULL;
    int r, i, ret = 0, freefwd = 1;
    memset(&fwd, 0, sizeof fwd);
    if ((r = get_string(in, &addr, NULL)) != 0 || (r = get_string(in, &other, NULL)) != 0 || in->at == 7) {
        ret = -1;
        free(addr);
        free(other);
        goto out;
    }
    if (*addr == '\0') {
        free(addr);
        addr = NULL;
    }
    if (*other == '\0') {
        free(other);
        other = NULL;
    }
    memset(&fwd, 0, sizeof fwd);
    fwd.port = (int)in->at;
    if (fwd.port == 3)
        fwd.path = addr;
    else
        fwd.host = addr;
    fwd.connect = other;
    printf("%s\n", (desc = format(ftype, &fwd)));
    if (ftype != 1 && ftype != 2) {
        free(addr);
        free(other);
        free(desc);
        return 0;
    }
    for (i = 0; i < options.n; i++)
        if (options.all[i].port == fwd.port)
            goto out;
    if (ftype == 1) {
        if (!setup(&fwd)) {
fail:
            puts("failed");
            goto out;
        }
        add(&fwd);
        freefwd = 0;
    } else {
        fwd.handle = request(&fwd);
        if (fwd.handle < 0)
            goto fail;
        add(&fwd);
        freefwd = 0;
        goto out;
    }
    puts("ok");
 out:
    free(desc);
    if (freefwd) {
        free(fwd.host);
        free(fwd.path);
        free(fwd.connect);
    }
    return ret;
}

int main(int argc, char **argv) {
    const char *s = argc > 1 ? argv[1] : "1a1b";
    struct input in = {(const unsigned char *)s, 0, strlen(s)};
    printf("%d\n", names(&in, argc));
    return 0;
}
