// verdict: MUST-LEAK
// A table tells the class of a byte.
#include <stdio.h>
#include <stdlib.h>

static const unsigned char class_of[256] = { ['%'] = 3, ['a'] = 1, ['b'] = 1, ['0'] = 2 };

int main(void)
{
    int c = getchar();
    if (c == EOF)
        return 1;
    char *p = malloc(6); // @alloc
    if (!p)
        return 1;
    if (class_of[(unsigned char)c] == 3)
        return 2; // @leak
    free(p);
    return 0;
}
