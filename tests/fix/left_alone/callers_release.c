// left alone: the caller releases what is left when the function fails, although another one forgets it
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int unknown(char *name);

static int read_name(const char *line, char **name) {
    *name = strdup(line);
    if (*name == NULL)
        return -1;
    if (strlen(line) == 3)
        return -1;
    return 0;
}

int show(const char *line) {
    char *name = NULL;
    if (read_name(line, &name) < 0) {
        free(name);
        return -1;
    }
    puts(name);
    free(name);
    return 0;
}

int hand_over(const char *line) {
    char *name = NULL;
    if (read_name(line, &name) < 0)
        return unknown(name);
    puts(name);
    free(name);
    return 0;
}
