// verdict: MUST-LEAK
// The owner is freed, its field is not.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item { char *name; int kind; };

static void item_free(struct item *i)
{
    if (i->kind != 'K') // @branch 1 F
        free(i->name);
    free(i); // @leak
}

int main(void)
{
    int c = getchar();
    struct item *i = malloc(sizeof *i);
    if (!i)
        return 1;
    i->name = strdup("item"); // @alloc
    i->kind = c;
    item_free(i);
    return 0;
}
