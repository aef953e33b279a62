// The variable is there in one configuration only: so is its release.
// run: 
// run: name=a name=b
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WITH_NAMES 1

static void show(int n, char **options)
{
#ifdef WITH_NAMES
    char *name = NULL;
    int i;

    for (i = 1; i < n && name == NULL; i++) {
        if (strncmp(options[i], "name=", 5) == 0)
            name = strdup(options[i] + 5);
    }
    printf("%s\n", name ? name : "none");
    free(name);
#else
    fputs("no names\n", stderr);
#endif
}

int main(int argc, char **argv)
{
    show(argc, argv);
    return 0;
}
