// run: a
// The struct is used under #if only, and so is every release.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HAVE_TLS 1

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
#ifdef HAVE_TLS
    if (tls) {
        if (strchr(s.hostname, 'a') == NULL)
            return -2;
        printf("%s\n", s.hostname);
        free(s.hostname);
    }
#endif
    return 0;
}

int main(int argc, char **argv) {
    printf("%d\n", start(argv[argc - 1], argc > 1));
    return 0;
}
