// verdict: BLOAT
// budget: 4
// Commands that `sscanf` reads: a whole line must fit before the program does anything. Nothing is lost here.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    char name[32];
    char *text;
};

int main(void)
{
    char line[200], name[32], text[64];
    struct entry entry = {"", NULL};
    int count = 0, depth = 0;
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "define entry %31[a-z] as \"%63[^\"]\" times %d", name, text, &count) == 3) {
            strcpy(entry.name, name);
            free(entry.text);
            entry.text = strdup(text); // @alloc
        } else if (sscanf(line, "enter level %d of %31s", &depth, name) == 2) {
            if (depth < 1)
                depth = 1;
        } else if (sscanf(line, "forget entry %31[a-z] now", name) == 1) {
            if (depth > 0 && strcmp(name, entry.name) == 0) {
                char *old = entry.text;
                entry.text = NULL; // @leak
                free(old);
            }
        }
    }
    free(entry.text);
    return 0;
}
