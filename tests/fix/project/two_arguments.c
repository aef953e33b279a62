// run: a
// run: abc
// run: xyz
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pool {
    int live;
};

struct item {
    char *name;
    int size;
};

static struct item *item_new(struct pool *pool, const char *name) {
    struct item *it = calloc(1, sizeof *it);
    if (it == NULL)
        return NULL;
    if ((it->name = strdup(name)) == NULL) {
        free(it);
        return NULL;
    }
    pool->live++;
    return it;
}

static void item_free(struct pool *pool, struct item *it) {
    if (it == NULL)
        return;
    pool->live--;
    free(it->name);
    free(it);
}

static int measure(struct pool *pool, const char *name) {
    struct item *it = item_new(pool, name);
    if (it == NULL)
        return -1;
    if (name[0] == 'x')
        return -2;
    it->size = (int)strlen(it->name);
    int size = it->size;
    item_free(pool, it);
    return size;
}

int main(int argc, char **argv) {
    struct pool pool = {0};
    printf("%d\n", measure(&pool, argc > 1 ? argv[1] : "default"));
    return 0;
}
