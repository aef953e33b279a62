// left alone: the other holder releases it
#include <stdio.h>
#include <stdlib.h>

struct shared {
    int count;
    int value;
};

static struct shared *get(struct shared *s) {
    s->count++;
    return s;
}

static void put(struct shared *s) {
    if (--s->count == 0)
        free(s);
}

static int work(int n) {
    struct shared *s = malloc(sizeof *s);
    if (!s)
        return -1;
    s->count = 1;
    s->value = n;
    struct shared *other = get(s);
    n = other->value;
    put(other);
    put(s);
    return n;
}

int main(int argc, char **argv) {
    (void)argv;
    printf("%d\n", work(argc));
    return 0;
}
