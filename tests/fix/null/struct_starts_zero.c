// run: store a b
// run: store a
// run: account x y
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct server {
    char *user;
    char *host;
    struct server *next;
};

static struct server *servers;

static int parse(char **words) {
    struct server local, *server;
    if (strcmp(*words, "account") == 0) {
        server = calloc(1, sizeof *server);
        if (!server)
            return -1;
        server->next = servers;
        servers = server;
    } else {
        memset(&local, 0, sizeof local);
        server = &local;
    }
    if (words[1]) {
        server->user = strdup(words[1]);
        if (words[2])
            server->host = strdup(words[2]);
    }
    if (!server->host)
        return 1;
    printf("%s %s\n", server->user ? server->user : "", server->host);
    if (server == &local) {
        free(local.user);
        free(local.host);
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 2 || parse(argv + 1) < 0)
        return 1;
    while (servers) {
        struct server *next = servers->next;
        free(servers->user);
        free(servers->host);
        free(servers);
        servers = next;
    }
    return 0;
}
