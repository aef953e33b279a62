// The function that releases looks into its argument: it is only called when there is one.
// run: 
// run: 1
// run: 1 2
// run: 1 2 3
#include <stdio.h>
#include <stdlib.h>

struct table {
    char *bytes;
    int used;
};

static struct table *table_new(int n)
{
    struct table *t = malloc(sizeof *t);
    if (t == NULL)
        return NULL;
    t->bytes = malloc(n);
    t->used = 0;
    return t;
}

static void table_delete(struct table *t)
{
    free(t->bytes);
    free(t);
}

static int run(int n, int quit)
{
    struct table *t = NULL;

    if (n > 2)
        t = table_new(n);
    if (quit) {
        if (t != NULL)
            table_delete(t);
        return 1;
    }
    printf("%d\n", n);
    if (t)
        table_delete(t);
    return 0;
}

int main(int argc, char **argv)
{
    (void)argv;
    return run(argc, argc > 1);
}
