// verdict: MUST-LEAK
// A remainder behind the last line end, which is looked for from the end.
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    char text[64];
    ssize_t n = read(0, text, sizeof text);
    if (n <= 0)
        return 0;
    char *end = memrchr(text, ';', (size_t)n);
    if (end && end + 3 == text + n) {
        char *rest = malloc(2); // @alloc
        if (rest)
            memcpy(rest, end + 1, 2);
    } // @leak
    return 0;
}
