// verdict: BLOAT
// budget: 10
// A file that names a file that names a file: what is four levels deep is freed as all else.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int load(const char *name, int depth)
{
    char line[80];
    FILE *file = fopen(name, "r");
    if (!file)
        return 1;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "use ", 4) != 0)
            continue;
        char *copy = strdup(line + 4); // @alloc
        if (depth == 3) {
            fclose(file);
            free(copy);
            return 2; // @leak
        }
        int failed = load(copy, depth + 1);
        free(copy);
        if (failed == 2)
            break;
    }
    fclose(file);
    return 0;
}

int main(int argc, char **argv)
{
    return argc > 1 ? load(argv[1], 0) : 1;
}
