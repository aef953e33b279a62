// left alone: the list takes it with two of its three results
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *slots[2];
static int used;

static int put(char *s) {
    if (used == 2)
        return -1;
    slots[used++] = s;
    return used == 2 ? 1 : 0;
}

static void work(const char *s) {
    char *copy = strdup(s);
    if (copy)
        put(copy);
}

int main(int argc, char **argv) {
    work("a");
    work(argc > 1 ? argv[1] : "b");
    work("c");
    printf("%d\n", used);
    free(slots[0]);
    free(slots[1]);
    return 0;
}
