// verdict: MUST-LEAK
// The operand is a folder.
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    DIR *folder = argc > 1 ? opendir(argv[1]) : NULL;
    struct dirent *entry;
    if (!folder)
        return 1;
    while ((entry = readdir(folder))) {
        char *name = strdup(entry->d_name); // @alloc
        if (name && name[0] != '.')
            continue; // @leak
        free(name);
    }
    closedir(folder);
    return 0;
}
