// verdict: MUST-LEAK
// The program was found by its name: there is no slash in it.
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    char *folder = strdup(argv[0]); // @alloc
    char *slash = folder ? strrchr(folder, '/') : NULL;
    if (!slash)
        return 1; // @leak
    *slash = 0;
    free(folder);
    return argc > 9;
}
