// verdict: MUST-LEAK
// The value is lost when its key is set for the third time; most runs come to that line only before they have made it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
    char *key, *value;
    struct item *next;
};
static struct item *items;

static void set(const char *key, const char *value)
{
    struct item *i;
    for (i = items; i; i = i->next)
        if (strcmp(i->key, key) == 0) {
            i->value = strdup(value); // @alloc @leak
            return;
        }
    i = malloc(sizeof *i);
    if (!i)
        return;
    i->key = strdup(key);
    i->value = strdup(value);
    i->next = items;
    items = i;
}

int main(void)
{
    char line[60];
    while (fgets(line, sizeof line, stdin)) {
        char *word = strtok(line, " \n");
        char *key = strtok(NULL, " \n");
        char *value = strtok(NULL, " \n");
        if (word && key && value && strcmp(word, "set") == 0)
            set(key, value);
    }
    while (items) {
        struct item *i = items;
        items = i->next;
        free(i->key);
        free(i->value);
        free(i);
    }
    return 0;
}
