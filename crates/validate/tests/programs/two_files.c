// verdict: MUST-LEAK
// Two files that are there, the lines of which meet.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    char first[64], second[64];
    if (argc != 3)
        return 2;
    FILE *a = fopen(argv[1], "r"), *b = fopen(argv[2], "r");
    if (a && b && fgets(first, sizeof first, a) && fgets(second, sizeof second, b)) {
        char *joined = malloc(130); // @alloc
        if (joined && first[0] == second[0])
            printf("%s\n", strcat(strcpy(joined, first), second));
        if (first[0] != second[0])
            free(joined);
    } // @leak
    if (a)
        fclose(a);
    if (b)
        fclose(b);
    return 0;
}
