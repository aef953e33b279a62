// run: x
// object: others call it
// left alone: the stream may be the caller's
#include <stdio.h>
#include <string.h>

int count(const char *name, FILE *given) {
    FILE *in = given;
    char line[80];
    int n = 0;
    if (!in)
        in = fopen(name, "r");
    if (!in)
        return -1;
    while (fgets(line, sizeof line, in)) {
        if (line[0] == '#')
            return -2;
        n++;
    }
    if (in != given)
        fclose(in);
    return n;
}
