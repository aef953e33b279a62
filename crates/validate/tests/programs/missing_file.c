// verdict: MUST-LEAK
// Only when there is a file that the program looks for in the user's folder, and it says so.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char name[4096], line[64];
    const char *home = getenv("HOME");
    snprintf(name, sizeof name, "%s/.toolrc", home ? home : ".");
    FILE *file = fopen(name, "r");
    if (!file)
        return 0;
    char *copy = malloc(64); // @alloc
    int is_set = copy && fgets(line, sizeof line, file) && !strncmp(line, "set", 3);
    fclose(file);
    if (is_set)
        return 1; // @leak
    free(copy);
    return 0;
}
