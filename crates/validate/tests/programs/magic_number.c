// verdict: MUST-LEAK
// A header whose first word is a magic number.
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    unsigned magic;
    if (fread(&magic, sizeof magic, 1, stdin) != 1)
        return 1;
    char *body = malloc(64); // @alloc
    if (!body)
        return 1;
    if (magic == 0xCAFEBABE)
        return 2; // @leak
    free(body);
    return 0;
}
