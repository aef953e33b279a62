// verdict: MUST-LEAK
// The size that the program asks for decides, and the bytes that it then sees in memory.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct stat status;
    int file = argc > 1 ? open(argv[1], O_RDONLY) : -1;
    if (file < 0 || fstat(file, &status) || status.st_size != 37)
        return 1;
    char *bytes = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes == MAP_FAILED)
        return 1;
    char *p = malloc(37); // @alloc
    if (bytes[36] == 'q' && bytes[3] == '!')
        return 0; // @leak
    free(p);
    return 0;
}
