// object: a library
// left alone: callers of the setter that are not seen may have put anything there
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct conf {
    char *title;
};

void conf_set(struct conf *c, const char *t) {
    c->title = strdup(t);
}

void conf_show(const char *t) {
    struct conf c = {NULL};
    conf_set(&c, t);
    conf_set(&c, "second");
    if (c.title)
        puts(c.title);
    free(c.title);
}
