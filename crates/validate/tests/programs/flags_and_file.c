// verdict: MUST-LEAK
// file: data.txt=hello
// A flag that getopt must find, together with the content of a file.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int c, strict = 0;
    char line[32];
    while ((c = getopt(argc, argv, "ab:s")) != -1)
        if (c == 's')
            strict = 1;
    FILE *f = fopen("data.txt", "r");
    if (!f)
        return 1;
    char *name = malloc(32); // @alloc
    if (!name) {
        fclose(f);
        return 1;
    }
    if (!fgets(line, sizeof line, f))
        line[0] = 0;
    fclose(f);
    if (strict && line[0] == '#')
        return 2; // @leak
    strcpy(name, line);
    puts(name);
    free(name);
    return 0;
}
