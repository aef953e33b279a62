// verdict: BLOAT
// Kept until the end of main for no reason.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *scratch;

static void prepare(int c)
{
    scratch = malloc(100); // @alloc
    if (scratch)
        memset(scratch, c, 100);
} // @leak

int main(void)
{
    int c = getchar(), n = 0;
    prepare(c);
    while ((c = getchar()) != EOF)
        n += c == '\n';
    printf("%d\n", n);
    free(scratch);
    return 0;
}
