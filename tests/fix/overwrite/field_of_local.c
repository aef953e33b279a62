// run: word
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    int id;
    char *name;
};

static int work(const char *s) {
    struct entry e = {1, NULL};
    e.name = strdup(s);
    if (!e.name)
        return -1;
    puts(e.name);
    e.name = strdup("other");
    if (!e.name)
        return -1;
    puts(e.name);
    free(e.name);
    return e.id;
}

int main(int argc, char **argv) {
    return work(argc > 1 ? argv[1] : "default") != 1;
}
