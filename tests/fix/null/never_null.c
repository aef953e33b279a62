// The function that releases looks into its argument, which is never null where it is called.
// run: 
// run: 1
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
        abort();
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
    struct table *t = table_new(n);

    if (quit)
        return 1;
    printf("%d\n", n);
    table_delete(t);
    return 0;
}

int main(int argc, char **argv)
{
    (void)argv;
    return run(argc, argc > 1);
}
