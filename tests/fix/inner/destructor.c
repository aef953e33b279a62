// run: a
// run:
// An owner that was zero when it was made is released without its parts: the type's own function knows them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    char *key;
    char *value;
};

static void entry_free(struct entry *e) {
    if (e == NULL)
        return;
    free(e->key);
    free(e->value);
    free(e);
}

static struct entry *entry_new(const char *key, const char *value) {
    struct entry *e = calloc(1, sizeof *e);
    if (e == NULL)
        return NULL;
    e->key = strdup(key);
    if (value == NULL) {
        free(e);
        return NULL;
    }
    e->value = strdup(value);
    return e;
}

int main(int argc, char **argv) {
    struct entry *e = entry_new("key", argc > 1 ? argv[1] : NULL);
    puts(e != NULL ? "made" : "none");
    entry_free(e);
    return 0;
}
