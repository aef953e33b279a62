// run: -o one -o two
// left alone: the first name is looked at again
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *output;
static char *first;

static int options(int argc, char **argv) {
    int o;
    while ((o = getopt(argc, argv, "o:")) != -1) {
        switch (o) {
        case 'o':
            output = strdup(optarg);
            if (!first && strlen(optarg) > 2)
                first = output;
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
    if (first)
        puts(first);
    if (output)
        puts(output);
    return 0;
}
