// verdict: MUST-LEAK
// The operand is a link to a folder.
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int main(int argc, char **argv)
{
    struct stat itself, behind;
    for (int i = 1; i < argc; i++) {
        char *name = strdup(argv[i]); // @alloc
        if (lstat(argv[i], &itself) || stat(argv[i], &behind) || !S_ISLNK(itself.st_mode)
            || !S_ISDIR(behind.st_mode)) {
            free(name);
            continue;
        }
        argc = 0; // @leak
    }
    return 0;
}
