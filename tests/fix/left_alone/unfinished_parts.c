// left alone: the destructor closes a stream that is not open yet, and the names cannot be released one by one
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct session {
    FILE *log;
    char **names;
    int n;
};

static void session_close(struct session *s) {
    fclose(s->log);
    for (int i = 0; i < s->n; i++)
        free(s->names[i]);
    free(s->names);
    free(s);
}

static struct session *session_open(char **names, int n) {
    struct session *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    s->names = calloc((size_t)n, sizeof *s->names);
    if (s->names == NULL) {
        free(s);
        return NULL;
    }
    for (int i = 0; i < n; i++, s->n++)
        s->names[i] = strdup(names[i]);
    if (n == 3)
        return NULL;
    s->log = fopen("/dev/null", "a");
    if (s->log == NULL)
        exit(1);
    return s;
}

int main(int argc, char **argv) {
    struct session *s = session_open(argv, argc);
    printf("%d\n", s != NULL);
    if (s != NULL)
        session_close(s);
    return 0;
}
