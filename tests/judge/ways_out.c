// Loops that are left for reasons the analysis may not see, and several releases of one object.
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct state {
    int stop;
    char *line;
    struct state *next;
};

static struct state *states;
static struct state *current;
static int turns[4];

static void stop_all(int n) {
    for (struct state *s = states; s != NULL; s = s->next)
        s->stop = n;
    turns[n & 3]++;
}

// The flag is behind a pointer that a global leads to.
static int behind_pointers(char **words) {
    char *copy = NULL;
    for (int i = 0; !current->next->stop; i++) {
        copy = strdup(words[i]);
        if (copy == NULL)
            break;
        puts(copy);
        free(copy); // unsafe: it is released again behind the loop
    }
    free(copy);
    return 0;
}

// The flag is an element, chosen by an index.
static int element(char **words, int n) {
    char *copy = NULL;
    for (int i = 0; turns[n & 3] == 0; i++) {
        copy = strdup(words[i]);
        puts(copy);
        free(copy); // unsafe: it is released again behind the loop
    }
    free(copy);
    return 0;
}

static volatile int local_stop(char **words) {
    volatile int done = 0;
    volatile int *p = &done;
    char *copy = NULL;
    for (int i = 0; !done; i++) {
        copy = strdup(words[i]);
        puts(copy);
        if (words[i + 1] == NULL)
            *p = 1;
        free(copy); // unsafe: it is released again behind the loop
    }
    free(copy);
    return 0;
}

// The loop ends by the last turn's result.
static int until_result(char **words) {
    char *copy = NULL;
    int r, i = 0;
    do {
        copy = strdup(words[i]);
        r = copy == NULL ? -1 : printf("%s\n", copy);
        i++;
        free(copy); // unsafe: it is released again behind the loop
    } while (r > 3);
    if (r == 3)
        puts("three");
    free(copy);
    return 0;
}

// Behind a switch with all of its cases.
static int by_case(int how, const char *s) {
    char *copy = strdup(s);
    if (copy == NULL)
        return -1;
    switch (how & 3) {
    case 0:
        puts("zero");
        break;
    case 1:
        free(copy); // unsafe: it is released again behind the switch
        break;
    case 2:
        free(copy); // safe
        return 2;
    default:
        abort();
    }
    free(copy);
    return 0;
}

// Two variables for one object, one of them in a struct of a caller.
static int in_struct(struct state *s, const char *text) {
    char *copy = strdup(text);
    s->line = copy;
    if (copy == NULL)
        return -1;
    for (int i = 0; text[i] != '\0'; i++) {
        if (text[i] == 'x') {
            free(copy); // unsafe: the struct of the caller still has it
            return -2;
        }
    }
    return 0;
}

// Several watched releases of one object in one function, each on its way, and one behind all.
static int many(const char *s, int how) {
    char *copy = NULL, *other = NULL;
    int r = -1;
    copy = strdup(s);
    if (copy == NULL)
        goto out;
    if (how == 1) {
        free(copy); // unsafe: and behind the label
        goto out;
    }
    if (how == 2) {
        free(copy); // safe
        return 2;
    }
    other = strdup(copy);
    if (other == NULL) {
        free(copy); // unsafe: and behind the label
        goto out;
    }
    if (how == 3) {
        free(other); // unsafe: and behind the label
        r = 3;
        goto out;
    }
    r = 0;
out:
    free(other);
    free(copy);
    return r;
}

int main(int argc, char **argv) {
    struct state s = {0, NULL, NULL}, t = {0, NULL, &s};
    states = current = &t;
    signal(SIGINT, stop_all);
    int r = behind_pointers(argv) + element(argv, argc) + local_stop(argv) + until_result(argv) +
            by_case(argc, argv[0]) + in_struct(&s, argv[0]) + many(argv[0], argc);
    free(s.line);
    return r;
}
