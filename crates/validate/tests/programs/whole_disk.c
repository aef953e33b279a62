// verdict: MUST-LEAK
// Something that is made only for files as large as disks.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct disk {
    long sectors, cylinders;
};

int main(int argc, char **argv)
{
    int file = argc > 1 ? open(argv[1], O_RDONLY) : -1;
    if (file < 0)
        return 1;
    long size = lseek(file, 0, SEEK_END);
    if (size <= 0 || size % 512 != 0)
        return 1;
    struct disk *disk = malloc(sizeof *disk); // @alloc
    if (!disk)
        return 1;
    disk->sectors = size / 512;
    disk->cylinders = disk->sectors / (32 * 64);
    if (disk->cylinders == 0) {
        free(disk);
        return 1;
    }
    close(file);
    return 0; // @leak
}
