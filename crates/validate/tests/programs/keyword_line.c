// verdict: MUST-LEAK
// A command with an operand.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int execute(char *line)
{
    char *word = strtok(line, " \n");
    if (!word)
        return 0;
    char *copy = strdup(word); // @alloc
    if (!copy)
        return 1;
    char *operand = strtok(0, " \n");
    if (strcmp(copy, "del") == 0) { // @branch 1 T
        if (!operand) // @branch 2 T
            return 1; // @leak
        puts(operand);
    }
    free(copy);
    return 0;
}

int main(void)
{
    char line[40];
    while (fgets(line, sizeof line, stdin))
        if (execute(line))
            return 1;
    return 0;
}
