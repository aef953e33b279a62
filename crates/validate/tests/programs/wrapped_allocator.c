// verdict: MUST-LEAK
// The object comes from a wrapper that other code uses too.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *xmalloc(size_t n)
{
    void *p = malloc(n);
    if (!p)
        exit(1);
    return p;
}

static char *label;

int main(int argc, char **argv)
{
    label = xmalloc(4);
    strcpy(label, "ok");
    char *p = xmalloc(100); // @alloc
    p[0] = argc > 1 ? argv[1][0] : 'x';
    if (p[0] == 'L')
        p = 0; // @leak
    puts(label);
    free(p);
    free(label);
    return 0;
}
