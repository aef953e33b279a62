// verdict: MUST-LEAK
// faults: malloc
// The first object is forgotten when there is no memory for the second.
#include <stdlib.h>

struct pair { char *a, *b; };

static int fill(struct pair *p)
{
    p->a = malloc(10); // @alloc
    if (!p->a)
        return -1;
    p->b = malloc(20);
    if (!p->b) // @branch 1 T
        return -1; // @leak
    return 0;
}

int main(void)
{
    struct pair p;
    if (fill(&p))
        return 1;
    free(p.a);
    free(p.b);
    return 0;
}
