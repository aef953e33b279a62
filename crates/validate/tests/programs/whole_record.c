// verdict: MUST-LEAK
// A file of records of which only whole ones are looked at, in a folder that the program goes into.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct record {
    int kind;
    char rest[196];
};

int main(void)
{
    struct record r;
    int file;
    if (chdir("d") || (file = openat(AT_FDCWD, "a", O_RDONLY)) < 0)
        return 1;
    while (read(file, &r, sizeof r) == sizeof r) {
        char *copy = malloc(sizeof r); // @alloc
        if (r.kind == 77)
            continue; // @leak
        free(copy);
    }
    close(file);
    return 0;
}
