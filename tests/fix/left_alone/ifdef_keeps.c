// left alone: another configuration keeps the pointer
// run: 
#include <stdio.h>
#include <stdlib.h>

struct entry {
    int kind;
    int size;
};

static int make(int quit)
{
    struct entry *e = calloc(1, sizeof *e);

    if (e == NULL)
        return 1;
#ifdef WITH_TABLE
    table_add(e);
#endif
    if (quit)
        return 2;
    printf("%d\n", e->size);
    free(e);
    return 0;
}

int main(int argc, char **argv)
{
    (void)argv;
    return make(argc > 1);
}
