// Somebody who was told earlier holds the object, or it is part of something larger.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arena {
    char *block;
    size_t used, size;
};

struct watcher {
    void (*call)(void *);
    void *data;
    struct watcher *next;
};

static struct watcher *watchers;

static void *arena_get(struct arena *a, size_t n) {
    if (a->used + n > a->size)
        return NULL;
    a->used += n;
    return a->block + a->used - n;
}

static int of_arena(size_t n) {
    struct arena a = {malloc(100), 0, 100};
    char *p;
    if (a.block == NULL)
        return -1;
    p = arena_get(&a, n);
    if (p == NULL) {
        free(a.block);
        return -1;
    }
    p[0] = 0;
    free(p); // unsafe: it is inside of the block
    free(a.block);
    return 0;
}

static int first_of_arena(void) {
    struct arena a = {malloc(100), 0, 100};
    char *p;
    if (a.block == NULL)
        return -1;
    p = arena_get(&a, 4);
    free(p); // unsafe: it may be the block, which is released
    free(a.block);
    return 0;
}

static void watch(void (*call)(void *), void *data) {
    struct watcher *w = malloc(sizeof *w);
    if (w == NULL)
        abort();
    w->call = call;
    w->data = data;
    w->next = watchers;
    watchers = w;
}

static void tell(void) {
    for (struct watcher *w = watchers; w != NULL; w = w->next)
        w->call(w->data);
}

static void print(void *text) {
    puts(text);
}

static int told(const char *s) {
    char *copy = strdup(s);
    if (copy == NULL)
        return -1;
    watch(print, copy);
    if (s[0] == 'x') {
        free(copy); // unsafe: the watcher has it
        return -1;
    }
    return 0;
}

static char *current;

static void show(void) {
    if (current != NULL)
        puts(current);
}

static int at_exit_of_others(const char *s) {
    current = strdup(s);
    atexit(show);
    if (s[0] == 'x') {
        free(current); // unsafe: the function at the end prints it
        return -1;
    }
    return 0;
}

struct node {
    struct node *next;
    char *text;
};

static struct node *push(struct node *list, char *text) {
    struct node *n = malloc(sizeof *n);
    if (n == NULL)
        return list;
    n->text = text;
    n->next = list;
    return n;
}

static void drop(struct node *list) {
    while (list != NULL) {
        struct node *next = list->next;
        free(list->text);
        free(list);
        list = next;
    }
}

static int released_with_list(const char *s) {
    char *copy = strdup(s);
    struct node *list = push(NULL, copy);
    drop(list);
    if (list == NULL)
        free(copy); // safe
    else if (s[0] == 'x')
        free(copy); // unsafe: the list released it
    return 0;
}

static int cleanup(const char *s, int n) {
    char *copy = NULL, *other = NULL;
    copy = strdup(s);
    if (copy == NULL)
        return -1;
    if (n == 1)
        goto done;
    other = strdup(s);
    if (other == NULL)
        goto out;
    if (n == 2)
        goto out;
    puts(other);
done:
    free(copy); // unsafe: below it is released again
    puts("done");
out:
    free(other);
    free(copy);
    return 0;
}

static int cleanup_of_some(const char *s, int n) {
    char *copy = strdup(s);
    if (copy == NULL)
        return -1;
    if (n == 1)
        goto release;
    if (n == 2)
        goto out;
    puts(copy);
release:
    free(copy);
out:
    free(copy); // unsafe: only one of the ways comes here with it
    return 0;
}

static int guarded(const char *s, int n) {
    char *copy = strdup(s);
    if (copy == NULL)
        return -1;
    if (n > 2)
        free(copy);
    n = getchar();
    if (n <= 2)
        free(copy); // unsafe: the number is another one by now
    return 0;
}

int main(int argc, char **argv) {
    int r = of_arena((size_t)argc) + first_of_arena() + told(argv[0]) + at_exit_of_others(argv[0]) +
            released_with_list(argv[0]) + cleanup(argv[0], argc) + cleanup_of_some(argv[0], argc) +
            guarded(argv[0], argc);
    tell();
    return r;
}
