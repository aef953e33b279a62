// Uses of what is released, and look-alikes.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node { struct node *next; char *name; int refs; };

int read_bad(void) {
    char *p = malloc(10);
    if (p == NULL)
        return 0;
    p[0] = 1;
    free(p);
    return p[0]; // also: use-after-free
}

int read_ok(void) {
    char *p = malloc(10);
    if (p == NULL)
        return 0;
    p[0] = 1;
    int first = p[0];
    free(p);
    return first;
}

void list_bad(struct node *n) {
    while (n) {
        free(n->name);
        free(n);
        n = n->next; // also: use-after-free
    }
}

void list_ok(struct node *n) {
    while (n) {
        struct node *next = n->next;
        free(n->name);
        free(n);
        n = next;
    }
}

static void drop(char *p) {
    free(p);
}

size_t length_bad(int n) {
    char *p = strdup("x");
    if (p == NULL)
        return 0;
    if (n > 3)
        drop(p);
    size_t length = strlen(p); // also: use-after-free
    if (n <= 3)
        free(p);
    return length;
}

void address_printed_ok(void) {
    char *p = malloc(4);
    free(p);
    printf("%p\n", (void *) p);
}

int counted_ok(struct node *n) {
    if (--n->refs > 0)
        return n->refs;
    free(n);
    return 0;
}

int compared_ok(char *p, char *q) {
    free(p);
    return p == q;
}

int replaced_ok(void) {
    int *p = malloc(sizeof *p);
    free(p);
    p = malloc(sizeof *p);
    if (p == NULL)
        return 0;
    *p = 3;
    int value = *p;
    free(p);
    return value;
}

int moved_bad(size_t n) {
    int *p = malloc(8);
    if (p == NULL)
        return 0;
    int *q = realloc(p, n + 16);
    if (q == NULL) {
        free(p);
        return 0;
    }
    q[1] = *p; // also: use-after-free
    int value = q[1];
    free(q);
    return value;
}
