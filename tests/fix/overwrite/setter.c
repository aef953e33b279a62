// run: one
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct conf {
    char *title;
};

static void set_title(struct conf *c, const char *t) {
    c->title = strdup(t);
}

static void work(const char *s) {
    struct conf c = {NULL};
    set_title(&c, s);
    set_title(&c, "second");
    if (c.title)
        puts(c.title);
    free(c.title);
}

int main(int argc, char **argv) {
    work(argc > 1 ? argv[1] : "default");
    return 0;
}
