// Releases of what is released already, and look-alikes.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pair { char *first; char *second; };

void on_one_branch_bad(int n) {
    char *p = malloc(10);
    if (p == NULL)
        return;
    if (n)
        free(p);
    free(p); // also: double-free
}

void emptied_ok(int n) {
    char *p = malloc(10);
    if (p == NULL)
        return;
    if (n) {
        free(p);
        p = NULL;
    }
    free(p);
}

void correlated_ok(int n) {
    char *p = strdup("x");
    if (n > 3)
        free(p);
    if (n <= 3)
        free(p);
}

static void drop(char *p) {
    free(p);
}

void through_a_callee_bad(void) {
    char *p = strdup("x");
    drop(p);
    drop(p); // also: double-free
}

void given_bad(char *p) {
    free(p);
    free(p); // also: double-free
}

void cleanup_label_bad(const char *text) {
    char *copy = strdup(text);
    FILE *out = fopen(text, "w");
    if (out == NULL) {
        free(copy);
        goto done;
    }
    fputs(copy ? copy : "", out);
    fclose(out);
done:
    free(copy); // also: double-free
}

void elements_ok(char **list, int n) {
    for (int i = 0; i < n; i++)
        free(list[i]);
    free(list);
}

void parts_ok(struct pair *p) {
    free(p->first);
    free(p->second);
    free(p);
}

void second_turn_ok(int n) {
    for (int i = 0; i < n; i++) {
        char *p = malloc(4);
        free(p);
    }
}

void resized_ok(size_t n) {
    char *p = malloc(4);
    char *q = realloc(p, n + 1);
    if (q == NULL)
        free(p);
    else
        free(q);
}
