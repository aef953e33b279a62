// left alone: without TRACE the struct has no such member where the release would stand
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HAVE_TLS 1
#define TRACE 1

struct session {
    int fd;
#ifdef HAVE_TLS
    char *hostname;
#endif
};

#ifdef HAVE_TLS
static int tls_init(struct session *s, const char *hostname) {
    s->hostname = strdup(hostname);
    return s->hostname == NULL ? -1 : 0;
}
#endif

static int start(const char *name, int tls) {
    struct session s;

    s.fd = 3;
#ifdef HAVE_TLS
    if (tls) {
        if (tls_init(&s, name) != 0)
            return -1;
    }
#endif
    printf("%d\n", s.fd);
#ifdef TRACE
    if (tls) {
        if (strchr(name, 'a') == NULL)
            return -2;
    }
#endif
#ifdef HAVE_TLS
    if (tls)
        free(s.hostname);
#endif
    return 0;
}

int main(int argc, char **argv) {
    printf("%d\n", start(argv[argc - 1], argc > 1));
    return 0;
}
