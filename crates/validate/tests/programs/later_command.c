// verdict: MUST-LEAK
// A value is kept by one command and dropped by another, which is compared only after the first.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *kept;

int main(void)
{
    char line[60];
    while (fgets(line, sizeof line, stdin)) {
        char *word = strtok(line, " \n");
        if (!word)
            continue;
        if (strcmp(word, "keep") == 0) {
            char *value = strtok(NULL, " \n");
            free(kept);
            kept = strdup(value ? value : ""); // @alloc
        } else if (strcmp(word, "forget") == 0) {
            kept = NULL; // @leak
        } else if (strcmp(word, "show") == 0 && kept) {
            puts(kept);
        }
    }
    free(kept);
    return 0;
}
