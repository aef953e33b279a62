// left alone: the variable has gone on to the next element, and the one that is released has no name any more
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

static void drop_all(struct server *list) {
    void *old[1];
    while (list != NULL) {
        old[0] = list;
        list = list->next;
        free(old[0]);
    }
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
