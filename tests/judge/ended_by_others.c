// Releases in loops that others end, or that the function itself can only leave by a signal.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile sig_atomic_t interrupted;
static int stop;

static int ended_by_a_signal(char **words) {
    char *copy = NULL;
    int err = 0;
    for (int i = 0; words[i] && !interrupted; i++) {
        copy = strdup(words[i]);
        if (copy == NULL) {
            err = -1;
            goto out;
        }
        puts(copy);
        free(copy); // unsafe: it is released again behind the loop
    }
out:
    free(copy);
    return err;
}
static int ended_by_a_flag(char **words) {
    char *copy = NULL;
    for (int i = 0; !stop; i++) {
        copy = strdup(words[i]);
        puts(copy);
        free(copy); // unsafe: it is released again behind the loop
    }
    free(copy);
    return 0;
}
static int never_ended(char **words) {
    char *copy = NULL;
    for (int i = 0; ; i++) {
        if (copy && stop) { puts(copy); }
        copy = strdup(words[i]);
        puts(copy);
        free(copy); // unsafe: next turn
    }
    return 0;
}
int main(int argc, char **argv) {
    return ended_by_a_signal(argv) + ended_by_a_flag(argv) + never_ended(argv);
}
