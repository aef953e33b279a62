// verdict: MUST-LEAK
// Two options together, one of them with a value.
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int option, all = 0, quiet = 0, brief = 0, size = 0;
    while ((option = getopt(argc, argv, "abqs:")) != -1) {
        if (option == 'a')
            all = 1;
        else if (option == 'b')
            brief = 1;
        else if (option == 'q')
            quiet = 1;
        else if (option == 's')
            size = atoi(optarg);
        else
            return 2;
    }
    if (brief && all)
        return 1;
    if (quiet && size > 0) {
        char *p = malloc(size); // @alloc
        if (optind + 1 < argc)
            return 0; // @leak
        free(p);
    }
    return 0;
}
