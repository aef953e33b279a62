// run: word
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct user {
    char *name;
    char *mail;
};

static struct user *user_new(const char *name) {
    struct user *u = calloc(1, sizeof *u);
    if (!u)
        return NULL;
    u->name = strdup(name);
    u->mail = strdup("nobody");
    return u;
}

static void user_free(struct user *u) {
    if (!u)
        return;
    free(u->name);
    free(u->mail);
    free(u);
}

static void work(const char *s) {
    struct user *u = user_new(s);
    if (u && u->mail)
        puts(u->mail);
    user_free(u);
}

int main(int argc, char **argv) {
    work(argc > 1 ? argv[1] : "default");
    return 0;
}
