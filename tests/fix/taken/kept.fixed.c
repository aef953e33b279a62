// run: a bb
// run:
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
struct node { char *text; struct node *next; };
struct list { struct node *head; };
static int keep(struct list *l, char *text) {
    struct node *n = malloc(sizeof *n);
    if (n == NULL)
        return -1;
    n->text = text;
    n->next = l->head;
    l->head = n;
    return 0;
}
static int adds;

int add(struct list *l, const char *s) {
    char *copy = strdup(s);
    int rc;

    if (copy == NULL)
        return -2;
    rc = keep(l, copy);
    if (rc != 0)
        free(copy);
    adds++;
    return rc;
}
int main(int argc, char **argv) {
    struct list l = { NULL };
    int i, r = 0;
    for (i = 1; i < argc; i++)
        r |= add(&l, argv[i]);
    while (l.head != NULL) {
        struct node *n = l.head;
        l.head = n->next;
        puts(n->text);
        free(n->text);
        free(n);
    }
    return r;
}
