// A callee stores what it is given: in a global, in a caller's struct, in a list, sometimes.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct link {
    struct link *next, *prev;
};

struct item {
    int n;
    struct link link;
    char *name;
};

struct table {
    struct link head;
    struct item *first, *slots[16];
    int used, limit;
    char *title;
    void (*on_add)(struct table *, struct item *);
};

static struct table shared;
static void *remembered;

static void remember(void *p) {
    remembered = p;
}

static void maybe_remember(void *p, int when) {
    if (when > 3)
        remembered = p;
}

static void link_in(struct link *list, struct link *l) {
    l->next = list->next;
    l->prev = list;
    if (list->next != NULL)
        list->next->prev = l;
    list->next = l;
}

static int add(struct table *t, struct item *it) {
    if (t->used >= t->limit || t->used >= 16)
        return -1;
    t->slots[t->used++] = it;
    return 0;
}

static void set_first(struct table *t, struct item *it) {
    t->first = it;
}

static int in_global(int n) {
    char *p = malloc(8);
    if (p == NULL)
        return -1;
    remember(p);
    if (n > 3) {
        free(p); // unsafe: the global still refers to it
        return -1;
    }
    return 0;
}

static int perhaps_in_global(int n) {
    char *p = malloc(8);
    if (p == NULL)
        return -1;
    maybe_remember(p, getchar());
    free(p); // unsafe: the global may refer to it
    return n;
}

static int by_node(struct table *t, int n) {
    struct item *it = calloc(1, sizeof *it);
    if (it == NULL)
        return -1;
    link_in(&t->head, &it->link);
    it->n = n;
    if (n > 4) {
        free(it); // unsafe: its link is in the list
        return -1;
    }
    return 0;
}

static int in_slot(struct table *t, int n) {
    struct item *it = calloc(1, sizeof *it);
    if (it == NULL)
        return -1;
    if (add(t, it) != 0) {
        free(it); // safe
        return -1;
    }
    if (n > 4)
        free(it); // unsafe: the table has it
    return 0;
}

static int in_struct_of_caller(struct table *t, int n) {
    struct item *it = calloc(1, sizeof *it);
    if (it == NULL)
        return -1;
    if (n > 1)
        set_first(t, it);
    if (n > 4 || n == 0) {
        free(it); // unsafe: it is the table's first with n > 4
        return -1;
    }
    return 0;
}

static void first_on_add(struct table *t, struct item *it) {
    t->first = it;
}

static void nothing_on_add(struct table *t, struct item *it) {
    t->limit = it->n;
}

static int by_pointer(struct table *t, int n) {
    struct item *it = calloc(1, sizeof *it);
    if (it == NULL)
        return -1;
    t->on_add(t, it);
    free(it); // unsafe: one of the functions keeps it
    return n;
}

static int interior(struct table *t, const char *s) {
    char *copy = strdup(s);
    if (copy == NULL)
        return -1;
    t->title = strchr(copy, '/') ? strchr(copy, '/') + 1 : NULL;
    if (t->title == NULL) {
        free(copy); // safe
        return -1;
    }
    puts(t->title);
    free(copy); // unsafe: the title points into it
    return 0;
}

static int interior_plain(struct table *t, const char *s) {
    char *copy = strdup(s);
    if (copy == NULL)
        return -1;
    t->title = copy + 2;
    free(copy); // unsafe: the title points into it
    return 0;
}

static int copied(struct table *t, const char *s) {
    struct item local = {1, {NULL, NULL}, NULL};
    struct item *out = calloc(1, sizeof *out);
    if (out == NULL)
        return -1;
    local.name = strdup(s);
    memcpy(out, &local, sizeof local);
    t->first = out;
    if (s[0] == 'x') {
        free(local.name); // unsafe: the copy has the name, too
        return -1;
    }
    return 0;
}

static int assigned(struct item *out, const char *s) {
    struct item local = {1, {NULL, NULL}, NULL};
    local.name = strdup(s);
    *out = local;
    if (s[0] == 'x') {
        free(local.name); // unsafe: the caller's struct has the name, too
        return -1;
    }
    return 0;
}

int main(int argc, char **argv) {
    struct item here;
    shared.limit = argc;
    shared.on_add = argc > 2 ? first_on_add : nothing_on_add;
    int r = in_global(argc) + perhaps_in_global(argc) + by_node(&shared, argc) + in_slot(&shared, argc) +
            in_struct_of_caller(&shared, argc) + by_pointer(&shared, argc) + interior(&shared, argv[0]) +
            interior_plain(&shared, argv[0]) + copied(&shared, argv[0]) + assigned(&here, argv[0]);
    printf("%p %d %s\n", remembered, shared.first ? shared.first->n : 0, here.name);
    return r;
}
