// Releases of what an owner holds: the owner has to be there, set, and not released.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
    int size;
    char *name;
    struct item *next;
};

static struct item *item_new(const char *name) {
    struct item *it = malloc(sizeof *it);
    if (it == NULL)
        return NULL;
    it->size = (int)strlen(name);
    it->next = NULL;
    it->name = strdup(name);
    return it;
}

static int item_get(const char *name, struct item **out) {
    if (*name == '-')
        return -1;
    *out = item_new(name);
    return *out == NULL ? -1 : 0;
}

static int not_set(const char *name) {
    struct item *it;
    if (item_get(name, &it) < 0) {
        free(it->name); // unsafe: the variable may not be set
        return -1;
    }
    free(it->name); // safe
    free(it);
    return 0;
}

static int not_there(const char *name) {
    struct item *it = NULL;
    if (*name == 'x')
        it = item_new(name);
    if (it != NULL)
        printf("%d\n", it->size);
    free(it->name); // unsafe: there may be no item
    free(it);
    return 0;
}

static int gone(const char *name) {
    struct item *it = item_new(name);
    if (it == NULL)
        return -1;
    if (*name == 'x') {
        free(it->name);
        free(it);
    }
    free(it->name); // unsafe: the item may be released
    return 0;
}

static int one_of_two(const char *name) {
    struct item *a = item_new(name), *b = NULL, *it;
    if (a == NULL)
        return -1;
    it = *name == 'x' ? a : b;
    free(it->name); // unsafe: one of the two is not there
    free(a);
    return 0;
}

static int second_of_list(const char *name) {
    struct item *it = item_new(name);
    if (it == NULL)
        return -1;
    if (*name == 'x')
        it->next = item_new(name + 1);
    if (it->next != NULL)
        printf("%d\n", it->next->size);
    free(it->next->name); // unsafe: there may be no second one
    free(it->next);
    free(it->name); // safe
    free(it);
    return 0;
}

static struct item *by_flag(const char *name, int flag) {
    struct item *it = NULL;
    if (flag)
        it = item_new(name);
    puts("made");
    if (flag && it == NULL)
        return NULL;
    if (flag) {
        free(it->name); // safe
        it->name = NULL;
    }
    return it;
}

int main(int argc, char **argv) {
    const char *name = argv[0];
    struct item *it = by_flag(name, argc > 1);
    free(it);
    return not_set(name) + not_there(name) + gone(name) + one_of_two(name) + second_of_list(name);
}
