// run: 1
// run: 2
#include <stdio.h>
#include <stdlib.h>

struct specific {
    char *boot;
    int kind;
};

struct fs {
    struct specific *specific;
};

static struct fs *fs_alloc(void) {
    struct fs *fs = calloc(1, sizeof *fs);
    if (!fs)
        return NULL;
    fs->specific = calloc(1, sizeof *fs->specific);
    if (!fs->specific) {
        free(fs);
        return NULL;
    }
    return fs;
}

static int probe(int kind) {
    struct fs *fs = fs_alloc();
    struct specific *own;
    if (!fs)
        return -1;
    own = fs->specific;
    own->boot = malloc(16);
    if (!own->boot)
        goto error;
    own->kind = kind;
    if (kind > 1)
        goto error;
    free(own->boot);
    free(own);
    free(fs);
    return 0;

error:
    free(own->boot);
    free(own);
    free(fs);
    return 1;
}

int main(int argc, char **argv) {
    printf("%d\n", probe(argc > 1 ? atoi(argv[1]) : 0));
    return 0;
}
