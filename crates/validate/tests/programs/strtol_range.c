// verdict: MUST-LEAK
// A checked number in a range, with everything after it refused.
#include <errno.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    char *end;
    if (argc < 2)
        return 1;
    char *p = malloc(3); // @alloc
    if (!p)
        return 1;
    errno = 0;
    long n = strtol(argv[1], &end, 10);
    if (errno || *end) {
        free(p);
        return 1;
    }
    if (n > 120 && n < 130)
        return 2; // @leak
    free(p);
    return 0;
}
