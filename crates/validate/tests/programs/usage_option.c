// verdict: MUST-LEAK
// A parser of its own that no word of the program feeds: only the usage text names the options.
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
    char *p = malloc(16); // @alloc
    if (hash(argv[1]) == 0x7745496a) // --keep-all
        return 0; // @leak
    free(p);
    return 0;
}
