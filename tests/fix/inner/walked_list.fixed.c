// The loop that releases a list has gone on to the next element already when the owner is released.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct server {
    char *host;
    int port;
    char *pass;
    struct server *next;
};

static struct server *make(const char *host, const char *pass) {
    struct server *s = malloc(sizeof *s);
    if (s == NULL)
        return NULL;
    s->host = strdup(host);
    s->pass = strdup(pass);
    s->port = 0;
    s->next = NULL;
    return s;
}

static void drop_all(struct server *list) {
    while (list != NULL) {
        struct server *old = list;
        list = list->next;
        free(old->host);
        free(old->pass);
        free(old);
    }
}

int main(void) {
    struct server *list = make("one", "secret");
    if (list == NULL)
        return 1;
    list->next = make("two", "secret");
    printf("%s\n", list->host);
    drop_all(list);
    return 0;
}
