// run: -
// run: /dev/null
#include <stdio.h>
#include <string.h>

static int count(const char *name) {
    FILE *in;
    char line[80];
    int n = 0;
    if (strcmp(name, "-") == 0)
        in = stdin;
    else
        in = fopen(name, "r");
    if (!in)
        return -1;
    while (fgets(line, sizeof line, in)) {
        if (line[0] == '#')
            return -2;
        n++;
    }
    if (in != stdin)
        fclose(in);
    return n;
}

int main(int argc, char **argv) {
    printf("%d\n", count(argc > 1 ? argv[1] : "-"));
    return 0;
}
