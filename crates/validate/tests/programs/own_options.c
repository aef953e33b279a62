// verdict: MUST-LEAK
// Options of a parser of the program's own, in a table without their dash.
#include <stdlib.h>
#include <string.h>

static const char *const names[] = { "fstype", "newerthan", "regextype", NULL };

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-')
            continue;
        for (int n = 0; names[n]; n++) {
            if (strcmp(argv[i] + 1, names[n]))
                continue;
            char *value = strdup(i + 1 < argc ? argv[i + 1] : ""); // @alloc
            if (n == 2 && i > 1)
                return 3; // @leak
            free(value);
        }
    }
    return 0;
}
