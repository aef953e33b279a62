// left alone: the way that succeeds has released the product before it comes to the common exit
#include <stdio.h>
#include <stdlib.h>

struct table {
    int n;
    int *cells;
};

static void table_free(struct table *t) {
    if (!t)
        return;
    free(t->cells);
    free(t);
}

static struct table *table_new(int n) {
    struct table *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->n = n;
    t->cells = calloc(n, sizeof *t->cells);
    if (!t->cells) {
        table_free(t);
        return NULL;
    }
    return t;
}

static struct table *product(const struct table *a, const struct table *b) {
    if (a->n != b->n)
        return NULL;
    struct table *t = table_new(a->n);
    for (int i = 0; t && i < t->n; i++)
        t->cells[i] = a->cells[i] * b->cells[i];
    return t;
}

static struct table *solve(const struct table *a, const struct table *b) {
    struct table *x = product(a, b);
    if (x && x->n > 2) {
        table_free(x);
        return NULL;
    }
    return x;
}

static struct table *fit(const struct table *a, const struct table *b) {
    struct table *x = NULL;
    struct table *aa = product(a, a);
    struct table *ab = product(a, b);
    if (!aa || !ab)
        goto out;
    x = solve(aa, ab);
    if (!x)
        goto out;
    table_free(ab);
    puts("fits");
out:
    table_free(aa);
    return x;
}

int main(int argc, char **argv) {
    struct table *a = table_new(argc), *b = table_new(2);
    if (a && b) {
        struct table *p = product(a, b);
        table_free(p);
        table_free(fit(a, b));
    }
    table_free(a);
    table_free(b);
    return 0;
}
