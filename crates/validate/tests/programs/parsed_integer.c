// verdict: MUST-LEAK
// An argument that must be one number of four thousand million.
#include <stdlib.h>

static int work(int n)
{
    int *p = malloc(sizeof *p); // @alloc
    if (!p)
        return -1;
    *p = n;
    if (n * 3 + 7 == 37042) // @branch 1 T
        return 1; // @leak
    free(p);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 1;
    return work(atoi(argv[1]));
}
