// run: 1
// run: 0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pool {
    char *a;
    char *b;
};

static int pool_init(struct pool *p) {
    p->a = strdup("a");
    p->b = NULL;
    return p->a ? 0 : -1;
}

static void pool_fini(struct pool *p) {
    free(p->a);
    free(p->b);
}

static int good(void) {
    struct pool p;
    if (pool_init(&p))
        return -1;
    puts(p.a);
    pool_fini(&p);
    return 0;
}

static int bad(int early) {
    struct pool p;
    if (pool_init(&p))
        return -1;
    if (early) {
        pool_fini(&p);
        return 1;
    }
    puts(p.a);
    pool_fini(&p);
    return 0;
}

int main(int argc, char **argv) {
    return good() + bad(argc > 1 ? atoi(argv[1]) : 1) < 0;
}
