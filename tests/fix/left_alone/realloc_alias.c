// run: hello
// left alone: what could not be resized is still looked at, and is the caller's then
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *kept;

static char *grown(char *text, size_t more) {
    char *start = text;
    if ((text = realloc(text, strlen(start) + more)) == NULL) {
        if (more > 100)
            kept = start;
        return NULL;
    }
    return text;
}

int main(int argc, char **argv) {
    char *text = strdup(argc > 1 ? argv[1] : "x");
    if (!text)
        return 1;
    text = grown(text, 100);
    if (!text)
        return 1;
    strcat(text, "!");
    puts(text);
    free(text);
    free(kept);
    return 0;
}
