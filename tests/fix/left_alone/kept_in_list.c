// left alone: the object stays in a list that outlives the function
#include <stdio.h>
#include <stdlib.h>

struct node {
    struct node *next;
    int n;
};

static struct node *all;

static int work(int n) {
    struct node *x = malloc(sizeof *x);
    if (!x)
        return -1;
    x->n = n;
    x->next = all;
    all = x;
    return n;
}

int main(int argc, char **argv) {
    work(argc);
    work(2);
    for (struct node *x = all; x; x = x->next)
        printf("%d\n", x->n);
    return argc > 5;
}
