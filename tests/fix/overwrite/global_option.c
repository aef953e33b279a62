// run: -o one
// run: -o one -v -o two
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *output;

static int options(int argc, char **argv) {
    int o;
    while ((o = getopt(argc, argv, "o:v")) != -1) {
        switch (o) {
        case 'o':
            output = strdup(optarg);
            break;
        case 'v':
            puts("verbose");
            break;
        default:
            return -1;
        }
    }
    return 0;
}

int main(int argc, char **argv) {
    if (options(argc, argv) != 0)
        return 1;
    if (output)
        puts(output);
    free(output);
    return 0;
}
