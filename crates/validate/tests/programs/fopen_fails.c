// verdict: MUST-LEAK
// faults: fopen
// file: config=x
// The name is forgotten when the file cannot be opened.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char *name = strdup("config"); // @alloc
    if (!name)
        return 1;
    FILE *f = fopen(name, "r");
    if (!f) {
        perror(name);
        return 1; // @leak
    }
    fclose(f);
    free(name);
    return 0;
}
