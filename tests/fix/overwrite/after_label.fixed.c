// run: 1
// run: 2
// A declaration cannot follow a label.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *shout(const char *text) {
    char *copy = strdup(text);
    for (char *p = copy; p != NULL && *p != '\0'; p++)
        if (*p == 'a')
            *p = 'A';
    return copy;
}

static void show(int kind) {
    char *text = strdup("banana");
    if (text == NULL)
        return;
    switch (kind) {
    case 1:
        {
            char *old_text = text;
            text = shout(text);
            free(old_text);
        }
        break;
    default:
        break;
    }
    puts(text != NULL ? text : "none");
    free(text);
}

int main(int argc, char **argv) {
    show(argc > 1 ? atoi(argv[1]) : 0);
    return 0;
}
