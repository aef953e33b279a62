// verdict: MAY-LEAK
// budget: 6
// The line of the leak is passed by every run, but what leaks is behind a condition on it that none fulfils.
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    unsigned hash = 1;
    int c;
    char *p = malloc(8); // @alloc
    if (!p)
        return 1;
    while ((c = getchar()) != EOF)
        for (int round = 0; round < 24; round++)
            hash = (hash ^ (unsigned)c ^ hash >> 13) * hash * 16777619u + (hash >> 7);
    if (hash == 0xdeadbeef) return 2; // @leak
    free(p);
    return 0;
}
