// verdict: LIKELY-NOT-LEAK
// Told where the end is; what is taken then is used and released.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (!file || fseek(file, 0, SEEK_END))
        return 1;
    long size = ftell(file);
    int first = 0;
    if (size == 41) {
        char *p = calloc(1, 41); // @alloc
        if (p)
            p[0] = 1; // @leak
        first = p ? p[0] : 0;
        free(p);
    }
    fclose(file);
    return first;
}
