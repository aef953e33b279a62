// run: x
// run:
// Two parts of one owner are lost where it is released: each gets its release.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct server {
    int port;
    char *host, *user, *pass;
};

static char *dup(const char *s) {
    return s ? strdup(s) : NULL;
}

static struct server *build(const char *host, const char *user, const char *pass) {
    struct server *s = malloc(sizeof *s);
    if (s == NULL)
        return NULL;
    s->port = (int)strlen(host);
    s->host = dup(host);
    s->user = dup(user);
    s->pass = dup(pass);
    return s;
}

static int add(struct server **list, const char *host, const char *user, const char *pass) {
    struct server *s = build(host, user, pass);
    if (s == NULL)
        return -1;
    if (s->port == 3)
        goto fail;
    *list = s;
    return 0;
fail:
    free(s->host);
    free(s);
    return -1;
}

int main(int argc, char **argv) {
    struct server *list = NULL;
    int r = add(&list, argc > 1 ? "four" : "one", argv[0], argv[0]);
    printf("%d\n", r);
    if (list != NULL) {
        free(list->host);
        free(list->user);
        free(list->pass);
        free(list);
    }
    return 0;
}
