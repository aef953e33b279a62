// verdict: LIKELY-NOT-LEAK
// The callee returns the object; its caller uses and frees it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *make(const char *s)
{
    char *p = malloc(strlen(s) + 1); // @alloc
    if (!p)
        exit(1);
    strcpy(p, s);
    return p; // @leak
}

int main(int argc, char **argv)
{
    char *p = make(argc > 1 ? argv[1] : "none");
    puts(p);
    free(p);
    return 0;
}
