// verdict: MUST-LEAK
// The first leak shows only in a file system in memory, where the search runs its programs; another shows everywhere.
#include <stdlib.h>
#include <sys/vfs.h>

int main(int argc, char **argv)
{
    struct statfs system;
    if (argc < 2 || statfs(".", &system))
        return 1;
    char *buffer = malloc(32); // @alloc
    int is_lost = system.f_type == 0x01021994 && argv[1][0] == '1';
    if (atoi(argv[1]) == 24711)
        is_lost = 1;
    if (is_lost)
        buffer = 0; // @leak
    free(buffer);
    return 0;
}
