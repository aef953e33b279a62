// run: -o one -o two
// left alone: the variable starts with a literal, which cannot be told from an object
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *output = "standard";

static int options(int argc, char **argv) {
    int o;
    while ((o = getopt(argc, argv, "o:")) != -1) {
        switch (o) {
        case 'o':
            output = strdup(optarg);
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
    puts(output);
    return 0;
}
