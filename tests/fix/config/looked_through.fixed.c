// Another configuration only fills in what the pointer points to.
// run: 
// run: 1
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
#ifdef WITH_SIZES
    e->size = measure(e->kind);
#else
    e->size = 4;
#endif
    if (quit) {
        free(e);
        return 2;
    }
    printf("%d\n", e->size);
    free(e);
    return 0;
}

int main(int argc, char **argv)
{
    (void)argv;
    return make(argc > 1);
}
