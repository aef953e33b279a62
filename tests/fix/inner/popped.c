// Where an element is released it is taken out of the list, too: before that the variable still refers to it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct server {
    int port;
    char *host;
    struct server *next;
};

static struct server *make(const char *host) {
    struct server *s = malloc(sizeof *s);
    if (s == NULL)
        return NULL;
    s->host = strdup(host);
    s->port = 0;
    s->next = NULL;
    return s;
}

static struct server *pop(struct server **list) {
    struct server *first = *list;
    *list = first->next;
    return first;
}

static void drop_all(struct server *list) {
    while (list != NULL)
        free(pop(&list));
}

int main(void) {
    struct server *list = make("one");
    if (list == NULL)
        return 1;
    list->next = make("two");
    printf("%s\n", list->host);
    drop_all(list);
    return 0;
}
