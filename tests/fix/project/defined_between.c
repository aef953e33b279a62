// run: a
// run: >
// run: x y
// The destructor is defined between the two functions that leak: what clang says of one is not said of the other.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cmd {
    char *name;
    char *redirect;
};

static struct cmd *cmd_new(const char *name) {
    struct cmd *c = calloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    c->name = strdup(name);
    return c;
}

static struct cmd *cmd_parse(const char *line) {
    struct cmd *c = cmd_new(line);
    if (c == NULL)
        return NULL;
    if (line[0] == '>')
        return NULL;
    if (line[0] == 'x')
        c->redirect = strdup(line);
    return c;
}

static void cmd_free(struct cmd *c) {
    if (c == NULL)
        return;
    free(c->name);
    free(c->redirect);
    free(c);
}

static int run(const char *line) {
    struct cmd *c = cmd_parse(line);
    int r = 0;
    if (c == NULL)
        return -1;
    if (c->redirect != NULL) {
        if (strlen(c->redirect) == 1)
            return 2;
        puts(c->redirect);
        r = 1;
    }
    cmd_free(c);
    return r;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        printf("%d\n", run(argv[i]));
    return 0;
}
