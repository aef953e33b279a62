// verdict: MUST-LEAK
// A structure read as it is, with fields that depend on each other.
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

struct header { uint16_t kind; uint16_t length; uint32_t offset; };

int main(void)
{
    struct header h;
    if (read(0, &h, sizeof h) != sizeof h)
        return 1;
    char *data = malloc(32); // @alloc
    if (!data)
        return 1;
    if (h.kind == 0x0102 && h.offset == (uint32_t)h.length * 8 && h.length > 100)
        return 2; // @leak
    free(data);
    return 0;
}
