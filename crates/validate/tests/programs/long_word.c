// verdict: MUST-LEAK
// A word of eleven letters.
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    char *copy;
    if (argc != 2)
        return 1;
    copy = strdup(argv[1]); // @alloc
    if (!copy)
        return 1;
    if (strcmp(copy, "open-sesame") == 0)
        return 0; // @leak
    free(copy);
    return 0;
}
