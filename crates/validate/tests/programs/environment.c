// verdict: MUST-LEAK
// env: MODE=x
// An environment variable decides.
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char *p = malloc(5); // @alloc
    const char *mode = getenv("MODE");
    if (!p)
        return 1;
    if (mode && strcmp(mode, "fast") == 0)
        return 0; // @leak
    free(p);
    return 0;
}
