// A loop is left in two ways: one release behind it serves both.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *last_line(FILE *f) {
    char *line = NULL, *last = NULL;
    size_t cap = 0;
    while (getline(&line, &cap, f) >= 0) {
        if (line[0] == '#')
            continue;
        free(last);
        last = strdup(line);
        if (last == NULL)
            break;
    }
    free(line);
    return last;
}

int main(void) {
    FILE *f = fopen("/etc/passwd", "r");
    if (f != NULL) {
        char *last = last_line(f);
        printf("%d\n", last != NULL);
        free(last);
        fclose(f);
    }
    return 0;
}
