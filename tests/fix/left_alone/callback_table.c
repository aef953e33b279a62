// left alone: who calls the function through the table is not known
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ops {
    void (*set)(char **slot, const char *text);
};

static void set(char **slot, const char *text) {
    *slot = strdup(text);
}

struct ops table = {set};

static void work(const char *s) {
    char *slot = NULL;
    set(&slot, s);
    set(&slot, "second");
    if (slot)
        puts(slot);
    free(slot);
}

int main(int argc, char **argv) {
    work(argc > 1 ? argv[1] : "first");
    return 0;
}
