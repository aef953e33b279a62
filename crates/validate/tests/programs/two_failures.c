// verdict: MUST-LEAK
// faults: fopen malloc
// file: a=1
// Only when both the file and the memory for its stand-in are missing.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char *name = strdup("a"); // @alloc
    if (!name)
        return 1;
    FILE *f = fopen(name, "r");
    if (!f) {
        char *standin = malloc(100);
        if (!standin)
            return 1; // @leak
        free(standin);
    } else {
        fclose(f);
    }
    free(name);
    return 0;
}
