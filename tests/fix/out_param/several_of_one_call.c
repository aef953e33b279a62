// run: word
// run: w
// run: none
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int split(const char *s, char **head, char **tail) {
    if (strcmp(s, "none") == 0)
        return -1;
    *head = strdup(s);
    *tail = strdup(s + 1);
    if (!*head || !*tail) {
        free(*head);
        free(*tail);
        return -1;
    }
    return 0;
}

static int work(const char *s) {
    char *head, *tail;
    if (split(s, &head, &tail))
        return -1;
    if (strlen(s) < 2) {
        puts("too short");
        return 1;
    }
    printf("%s %s\n", head, tail);
    free(head);
    free(tail);
    return 0;
}

int main(int argc, char **argv) {
    return work(argc > 1 ? argv[1] : "default") < -1;
}
