// verdict: MUST-LEAK
// The allocator's own data point to the end of the block, where the next chunk has its size. Nothing of the
// program's refers to it.
#include <stdlib.h>

static int work(int n)
{
    char *p = malloc(100); // @alloc
    if (!p)
        return 1;
    if (n == 77)
        return 2; // @leak
    free(p);
    return 0;
}

int main(int argc, char **argv)
{
    return argc > 1 ? work(atoi(argv[1])) : 0;
}
