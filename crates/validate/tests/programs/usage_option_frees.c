// verdict: LIKELY-NOT-LEAK
// As usage_option.c, but what is taken there is used and released.
#include <stdio.h>
#include <stdlib.h>

static unsigned hash(const char *text)
{
    unsigned h = 5381;
    while (*text)
        h = h * 33 + (unsigned char)*text++;
    return h;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fputs("usage: usage_option [--quiet] [--keep-all] FILE\n", stderr);
        return 2;
    }
    char *p = calloc(1, 16); // @alloc
    if (!p)
        return 1;
    if (hash(argv[1]) == 0x7745496a) // --keep-all
        p[0] = 1; // @leak
    int first = p[0];
    free(p);
    return first;
}
