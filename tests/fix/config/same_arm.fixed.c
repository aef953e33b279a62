// All of the variable's life is compiled together with the release.
// run: 
// run: 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WITH_NAMES 1

static int show(const char *name, int quit)
{
#if WITH_NAMES
    char *copy = strdup(name);

    if (copy == NULL)
        return 1;
    if (quit) {
        free(copy);
        return 2;
    }
    puts(copy);
    free(copy);
    return 0;
#else
    char *copy;

    copy = find_name(name);
    return keep(copy);
#endif
}

int main(int argc, char **argv)
{
    (void)argv;
    return show("name", argc > 1);
}
