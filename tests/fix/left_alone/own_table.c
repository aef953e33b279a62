// left alone: only a part of the object is known to be its own
// run: 
#include <stdio.h>
#include <stdlib.h>

struct table {
    int *cells;
    int size;
};

int (*watch)(struct table *t);

static struct table *table_new(int size)
{
    struct table *t = malloc(sizeof *t);

    if (t == NULL)
        abort();
    t->cells = calloc(size, sizeof *t->cells);
    t->size = size;
    return t;
}

static void table_delete(struct table *t)
{
    free(t->cells);
    free(t);
}

int main(int argc, char **argv)
{
    struct table *t = table_new(argc);

    (void)argv;
    if (watch != NULL && watch(t))
        return 1;
    if (argc > 2)
        return 2;
    printf("%d\n", t->size);
    table_delete(t);
    return 0;
}
