// verdict: MUST-LEAK
// Four options together, each of which is refused without the one before.
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const char *space = NULL, *name = NULL;
    int option, hashed = 0, hex = 0, other = 0;
    while ((option = getopt(argc, argv, "abcdefn:N:msx")) != -1) {
        if (option == 'n')
            space = optarg;
        else if (option == 'N')
            name = optarg;
        else if (option == 'm' || option == 's')
            hashed = 1;
        else if (option == 'x')
            hex = 1;
        else if (option == '?')
            return 2;
        else
            other++;
    }
    if (!space || !name)
        return 1;
    if (!hashed || other)
        return 1;
    if (hex) {
        char *p = malloc(16); // @alloc
        if (p)
            return 0; // @leak
    }
    return 0;
}
