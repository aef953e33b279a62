// verdict: MUST-LEAK
// The second turn of a loop overwrites what the first one made.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char line[16], *last = 0;
    while (fgets(line, sizeof line, stdin)) {
        if (strncmp(line, "set ", 4) == 0)
            last = strdup(line + 4); // @alloc @leak
    }
    if (last)
        puts(last);
    free(last);
    return 0;
}
