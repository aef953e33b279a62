// verdict: MAY-LEAK
// budget: 3
// As rest_of_the_line, but the condition does not depend on the input.
#include <stdlib.h>

static volatile int failed;

int main(void)
{
    char *p = malloc(8); // @alloc
    if (!p)
        return 1;
    if (failed) return 2; // @leak
    free(p);
    return 0;
}
