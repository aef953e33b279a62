// run: word
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
    char *name;
};

static int work(const char *s) {
    struct item *it = malloc(sizeof *it);
    if (!it)
        return -1;
    it->name = strdup(s);
    if (it->name)
        puts(it->name);
    free(it->name);
    free(it);
    return 0;
}

int main(int argc, char **argv) {
    return work(argc > 1 ? argv[1] : "default");
}
