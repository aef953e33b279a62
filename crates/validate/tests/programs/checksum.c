// verdict: MUST-LEAK
// Eight bytes whose checksum is given.
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    unsigned char bytes[8];
    unsigned sum = 0;
    char *buffer;
    if (fread(bytes, 1, sizeof bytes, stdin) != sizeof bytes)
        return 1;
    for (int i = 0; i < 8; i++)
        sum = sum * 31 + bytes[i];
    buffer = malloc(16); // @alloc
    if (!buffer)
        return 1;
    if ((sum & 0xffff) == 0x1234)
        return 2; // @leak
    free(buffer);
    return 0;
}
