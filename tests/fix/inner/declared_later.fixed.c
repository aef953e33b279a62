// run: 3
// run: 0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
    char *name;
    int size;
};

static void item_free(struct item *it);

/* Makes an item of a size. */
static struct item *item_new(const char *name, int size) {
    struct item *it = calloc(1, sizeof *it);
    if (!it)
        return NULL;
    it->name = strdup(name);
    if (!it->name || size == 0) {
        item_free(it);
        return NULL;
    }
    it->size = size;
    return it;
}

static void item_free(struct item *it) {
    if (!it)
        return;
    free(it->name);
    free(it);
}

int main(int argc, char **argv) {
    struct item *it = item_new("name", argc > 1 ? atoi(argv[1]) : 1);
    if (it)
        printf("%s %d\n", it->name, it->size);
    item_free(it);
    return 0;
}
