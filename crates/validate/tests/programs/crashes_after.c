// verdict: MAY-LEAK
// budget: 4
// Every run that passes the leak point dies before its end: what is left over says nothing.
#include <stdio.h>
#include <stdlib.h>

static char *kept;

static void take(int c)
{
    kept = malloc(3); // @alloc
    if (kept)
        kept[0] = c;
} // @leak

int main(void)
{
    take(getchar());
    abort();
}
