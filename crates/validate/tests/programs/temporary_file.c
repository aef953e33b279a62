// verdict: MUST-LEAK
// Only with a file of its own does the program come to its allocation, and only without another to its leak.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    FILE *copy = tmpfile();
    if (!copy)
        return 1;
    char name[] = "/tmp/leakproof-test-XXXXXX";
    char *line = malloc(80); // @alloc
    int c, n = 0;
    while ((c = getchar()) != EOF && n < 79)
        line ? line[n++] = (char)c : 0;
    int file = mkstemp(name);
    if (file >= 0) {
        close(file);
        unlink(name);
        free(line);
    }
    fclose(copy); // @leak
    return 0;
}
