// verdict: MAY-LEAK
// budget: 6
// A hash of the whole input must have one value: no solver finds it.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    unsigned char b[16];
    if (fread(b, 1, sizeof b, stdin) != sizeof b)
        return 1;
    uint64_t h = 14695981039346656037u;
    for (int round = 0; round < 24; round++)
        for (int i = 0; i < 16; i++) {
            h = (h ^ b[i] ^ (h >> 29)) * 1099511628211u;
            h = h * h + (h >> 17) * b[(h >> 60)];
        }
    char *p = malloc(7); // @alloc
    if (!p)
        return 1;
    if (h == 0x123456789abcdef0u)
        return 2; // @leak
    free(p);
    return 0;
}
