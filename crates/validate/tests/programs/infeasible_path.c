// verdict: LIKELY-NOT-LEAK infeasible
// The two branches of the path exclude each other.
#include <stdlib.h>

static int work(int n)
{
    char *p = 0;
    if (n > 10) // @branch 1 T
        p = malloc(n & 63); // @alloc
    if (n < 5) // @branch 2 T
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
