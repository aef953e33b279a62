// verdict: MUST-LEAK
// The first operand is a folder, the second does not exist yet.
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct stat from, to;
    char *name;
    if (getopt(argc, argv, "xyr") != 'r' || argc - optind != 2 || stat(argv[optind], &from)
        || !S_ISDIR(from.st_mode))
        return 1;
    name = strdup(argv[optind + 1]); // @alloc
    if (stat(argv[optind + 1], &to) && !mkdir(argv[optind + 1], 0700))
        return 0; // @leak
    free(name);
    return 0;
}
