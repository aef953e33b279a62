// Ways of a pointer that are easily overlooked.
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct by_value {
    char *text;
    int n;
};

union bits {
    char *text;
    uintptr_t number;
    unsigned halves[2];
};

struct list {
    char **items;
    int used, size;
};

static struct by_value kept;
static union bits last;
static char *table[8];

static void keep_value(struct by_value v) {
    kept = v;
}

static int given_by_value(const char *s) {
    struct by_value v = {strdup(s), 1};
    if (v.text == NULL)
        return -1;
    keep_value(v);
    free(v.text); // unsafe: the copy has it
    return 0;
}

static void keep_last(int n, ...) {
    va_list ap;
    va_start(ap, n);
    for (int i = 0; i < n; i++)
        table[i & 7] = va_arg(ap, char *);
    va_end(ap);
}

static int given_among_others(const char *s) {
    char *copy = strdup(s);
    if (copy == NULL)
        return -1;
    keep_last(2, "one", copy);
    free(copy); // unsafe: the table has it
    return 0;
}

static int as_number(const char *s) {
    char *copy = strdup(s);
    if (copy == NULL)
        return -1;
    last.number = (uintptr_t)copy;
    free(copy); // unsafe: the union has it
    return 0;
}

static int in_halves(unsigned *out, const char *s) {
    union bits b;
    b.text = strdup(s);
    if (b.text == NULL)
        return -1;
    out[0] = b.halves[0];
    out[1] = b.halves[1];
    free(b.text); // unsafe: the halves are the address
    return 0;
}

static char *remembered(char *text) {
    static char *here;
    char *old = here;
    here = text;
    return old;
}

static int in_static_of_callee(const char *s) {
    char *copy = strdup(s);
    if (copy == NULL)
        return -1;
    remembered(copy);
    free(copy); // unsafe: the callee remembers it
    return 0;
}

static int list_add(struct list *l, char *text) {
    if (l->used == l->size) {
        char **more = realloc(l->items, sizeof *more * (size_t)(l->size + 8));
        if (more == NULL)
            return -1;
        l->items = more;
        l->size += 8;
    }
    l->items[l->used++] = text;
    return 0;
}

static int in_list(struct list *l, const char *s) {
    char *copy = strdup(s);
    if (copy == NULL)
        return -1;
    if (list_add(l, copy) != 0) {
        free(copy); // safe
        return -1;
    }
    if (s[0] == 'x') {
        free(copy); // unsafe: the list has it
        return -1;
    }
    return 0;
}

static int taken_back(struct list *l, const char *s) {
    char *copy = strdup(s);
    if (copy == NULL)
        return -1;
    if (list_add(l, copy) != 0) {
        free(copy); // safe
        return -1;
    }
    l->used--;
    free(copy); // unsafe: whether the list looks behind its end is not known
    return 0;
}

static void *work(void *data) {
    puts(data);
    return NULL;
}

static int in_thread(const char *s) {
    pthread_t thread;
    char *copy = strdup(s);
    if (copy == NULL)
        return -1;
    if (pthread_create(&thread, NULL, work, copy) != 0)
        return -1;
    free(copy); // unsafe: the thread prints it
    return 0;
}

static int compare(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int sorted(const char *s, const char *t) {
    char *two[2] = {strdup(s), strdup(t)};
    char *first = two[0];
    if (two[0] == NULL || two[1] == NULL)
        return -1;
    qsort(two, 2, sizeof two[0], compare);
    free(two[0]);
    free(first); // unsafe: it may be the same
    return 0;
}

static int exchanged(const char *s, const char *t) {
    char *a = strdup(s), *b = strdup(t), *c;
    if (a == NULL || b == NULL)
        return -1;
    if (strcmp(a, b) > 0) {
        c = a;
        a = b;
        b = c;
    }
    puts(a);
    free(a); // safe
    free(b); // safe
    return 0;
}

static int exchanged_later(const char *s, const char *t) {
    char *a = strdup(s), *b = strdup(t), *c = a;
    if (a == NULL || b == NULL)
        return -1;
    if (strcmp(a, b) > 0)
        c = b;
    free(a);
    free(c); // unsafe: it may be the same
    return 0;
}

static void clear(char **p) {
    free(*p);
    *p = NULL;
}

static int cleared(const char *s) {
    char *a = strdup(s), *b = a;
    if (a == NULL)
        return -1;
    clear(&a);
    free(b); // unsafe: it was released by the other name
    return 0;
}

static int cleared_itself(const char *s) {
    char *a = strdup(s);
    if (a == NULL)
        return -1;
    if (s[0] == 'x')
        clear(&a);
    free(a); // safe
    return 0;
}

static int consume(char *text, int n) {
    if (n == 0)
        return 0;
    if (n == 1) {
        free(text);
        return 1;
    }
    return consume(text, n - 2);
}

static int recursive(const char *s, int n) {
    char *a = strdup(s);
    if (a == NULL)
        return -1;
    if (consume(a, n) == 0) {
        free(a); // safe
        return 0;
    }
    return 1;
}

static int recursive_unasked(const char *s, int n) {
    char *a = strdup(s);
    if (a == NULL)
        return -1;
    consume(a, n);
    free(a); // unsafe: an odd number releases it
    return 0;
}

int main(int argc, char **argv) {
    unsigned halves[2];
    struct list l = {NULL, 0, 0};
    const char *s = argv[0], *t = argv[argc - 1];
    int r = given_by_value(s) + given_among_others(s) + as_number(s) + in_halves(halves, s) + in_static_of_callee(s) +
            in_list(&l, s) + taken_back(&l, s) + in_thread(s) + sorted(s, t) + exchanged(s, t) +
            exchanged_later(s, t) + cleared(s) + cleared_itself(s) + recursive(s, argc) + recursive_unasked(s, argc);
    printf("%s %s %s %u\n", kept.text, last.text, table[1], halves[0]);
    return r;
}
