// Lists that a loop walks and releases: the variable that walks refers to the next element already.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
    char *host, *pass;
    struct item *next;
};

static struct item *items;

static int add(const char *host, const char *pass) {
    struct item *item = malloc(sizeof *item);
    if (item == NULL)
        return -1;
    item->host = strdup(host);
    item->pass = strdup(pass);
    item->next = items;
    items = item;
    return 0;
}

static void drop_next(struct item *item) {
    while (item) {
        struct item *old = item;
        item = item->next;
        free(old->host);
        free(item->pass); // unsafe: this is the next element, and null in the end
        free(old);
    }
}

static void drop_all(struct item *item) {
    while (item) {
        struct item *old = item;
        item = item->next;
        free(old->host);
        free(old->pass);
        free(old);
    }
}

int main(int argc, char **argv) {
    for (int i = 0; i + 1 < argc; i++)
        if (add(argv[i], argv[i + 1]) != 0)
            break;
    if (argc % 2)
        drop_next(items);
    else
        drop_all(items);
    items = NULL;
    return 0;
}
