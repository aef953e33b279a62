// verdict: MUST-LEAK
// A link to a file, named on standard input.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int main(int argc, char **argv)
{
    struct stat itself, behind;
    char line[256];
    if (argc != 2 || stat(argv[1], &behind) || !S_ISDIR(behind.st_mode))
        return 1;
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        char *name = strdup(line); // @alloc
        if (lstat(line, &itself) || !S_ISLNK(itself.st_mode) || stat(line, &behind)
            || !S_ISREG(behind.st_mode)) {
            free(name);
            continue;
        }
        name = 0; // @leak
    }
    return 0;
}
