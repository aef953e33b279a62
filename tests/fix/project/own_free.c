// run: 1
// run: 0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    char *name;
    int value;
};

static struct node *node_new(const char *name) {
    struct node *n = calloc(1, sizeof *n);
    if (!n)
        return NULL;
    n->name = strdup(name);
    if (!n->name) {
        free(n);
        return NULL;
    }
    return n;
}

static void node_free(struct node *n) {
    if (!n)
        return;
    free(n->name);
    free(n);
}

static int good(void) {
    struct node *n = node_new("good");
    int v = n ? n->value : -1;
    node_free(n);
    return v;
}

static int bad(int early) {
    struct node *n = node_new("bad");
    if (!n)
        return -1;
    if (early)
        return 1;
    puts(n->name);
    node_free(n);
    return 0;
}

int main(int argc, char **argv) {
    return good() + bad(argc > 1 ? atoi(argv[1]) : 1) < 0;
}
