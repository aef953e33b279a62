// verdict: MAY-LEAK
// budget: 4
// Nothing that the user controls makes the condition true.
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    char *p = malloc(7); // @alloc
    if (!p)
        return 1;
    if (getppid() < 0) // @branch 1 T
        return 2; // @leak
    free(p);
    return 0;
}
