// verdict: MUST-LEAK still-referenced
// A global keeps the object to the end, and nobody frees it.
#include <stdlib.h>

static char *cache;

static void remember(int n)
{
    if (n > 3) // @branch 1 T
        cache = malloc(n); // @alloc
} // @leak

int main(int argc, char **argv)
{
    remember(argc > 1 ? atoi(argv[1]) : 0);
    return cache != 0;
}
