// verdict: MUST-LEAK
// What the program does depends on what it is called.
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    const char *name = slash ? slash + 1 : argv[0];
    char *mode = malloc(16); // @alloc
    if (!mode)
        return 2;
    if (!strcmp(name, "undo"))
        return 1; // @leak
    free(mode);
    return argc > 9;
}
