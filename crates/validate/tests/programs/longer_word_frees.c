// verdict: BLOAT
// budget: 20
// The same where nothing is lost.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *wallpaper;

static int set(const char *name, const char *value)
{
    char *copy = strdup(value); // @alloc
    if (!copy)
        return 1;
    if (strcmp(name, "background-picture") == 0) {
        if (strcmp(value, "none") == 0)
            puts("none"); // @leak
        free(wallpaper);
        wallpaper = copy;
        return 0;
    }
    free(copy);
    return 1;
}

int main(int argc, char **argv)
{
    char line[80];
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (!file)
        return 1;
    while (fgets(line, sizeof line, file)) {
        char *value = strchr(line, '=');
        if (!value)
            continue;
        *value++ = 0;
        value[strcspn(value, "\n")] = 0;
        set(line, value);
    }
    fclose(file);
    free(wallpaper);
    return 0;
}
