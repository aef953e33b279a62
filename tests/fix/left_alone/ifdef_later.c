// left alone: another configuration uses the pointer later
// run: 
#include <stdio.h>
#include <stdlib.h>

struct entry {
    int size;
};

static void make(int quit)
{
    struct entry *e = calloc(1, sizeof *e);

    if (e == NULL)
        return;
    e->size = quit;
    printf("%d\n", e->size);
#ifdef WITH_TABLE
    table_add(e);
#endif
}

int main(int argc, char **argv)
{
    (void)argv;
    make(argc > 1);
    return 0;
}
