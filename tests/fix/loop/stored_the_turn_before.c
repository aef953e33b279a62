// run: aname bother
// run: aname xbad
// run: bname
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct peer {
    char *algorithms;
    int others;
};

static int next(const char *word, char **out) {
    *out = strdup(word);
    return *out == NULL ? -1 : 0;
}

static int read_all(struct peer *peer, int n, char **words) {
    char *value = NULL;
    for (int i = 0; i < n; i++) {
        if (next(words[i], &value) != 0)
            return -1;
        if (value[0] == 'x')
            return -2;
        if (value[0] == 'a' && peer->algorithms == NULL) {
            peer->algorithms = value;
            value = NULL;
        } else
            peer->others++;
        free(value);
    }
    return 0;
}

int main(int argc, char **argv) {
    struct peer peer = {NULL, 0};
    int r = read_all(&peer, argc - 1, argv + 1);
    printf("%d %s %d\n", r, peer.algorithms ? peer.algorithms : "none", peer.others);
    free(peer.algorithms);
    return 0;
}
