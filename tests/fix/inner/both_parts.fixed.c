// run: 1
// run: 0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
    char *name;
    int n;
};

static int work(int early) {
    struct item *it = calloc(1, sizeof *it);
    if (!it)
        return -1;
    it->name = strdup("item");
    if (early) {
        free(it->name);
        free(it);
        return 1;
    }
    if (it->name)
        puts(it->name);
    free(it->name);
    free(it);
    return 0;
}

int main(int argc, char **argv) {
    return work(argc > 1 ? atoi(argv[1]) : 1) < 0;
}
