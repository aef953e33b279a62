// run: a=b
// run: none
// The last reference points into the object; the first one still points to its start.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int after_equals(const char *text) {
    char *copy = strdup(text);
    if (copy == NULL)
        return -1;
    char *p = copy;
    while (*p != '\0' && *p != '=')
        p++;
    if (*p == '\0')
        return -1;
    int first = p[1];
    free(copy);
    return first;
}

int main(int argc, char **argv) {
    printf("%d\n", after_equals(argc > 1 ? argv[1] : "x"));
    return 0;
}
