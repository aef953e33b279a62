// verdict: MUST-LEAK
// Two numbers of one string.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int a, b;
    if (argc < 2 || sscanf(argv[1], "%d:%d", &a, &b) != 2)
        return 1;
    char *p = malloc(9); // @alloc
    if (!p)
        return 1;
    if (a == b + 3)
        return 2; // @leak
    free(p);
    return 0;
}
