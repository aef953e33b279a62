// run: x
// run:
// The program's destructor is for finished objects: it closes a stream that is not open yet.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct session {
    FILE *log;
    char *peer;
};

static void session_close(struct session *s) {
    fclose(s->log);
    free(s->peer);
    free(s);
}

static struct session *session_open(const char *peer) {
    struct session *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    s->peer = strdup(peer);
    if (s->peer == NULL || *peer == 'x')
        return NULL;
    s->log = fopen("/dev/null", "a");
    if (s->log == NULL) {
        free(s->peer);
        free(s);
        return NULL;
    }
    return s;
}

int main(int argc, char **argv) {
    struct session *s = session_open(argc > 1 ? argv[1] : "p");
    printf("%d\n", s != NULL);
    if (s != NULL)
        session_close(s);
    return 0;
}
