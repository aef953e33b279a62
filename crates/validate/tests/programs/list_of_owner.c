// verdict: LIKELY-NOT-LEAK
// A list takes the objects; all are printed and freed at the end.
#include <stdio.h>
#include <stdlib.h>

struct node { struct node *next; int value; };
static struct node *head;

static int add(int value)
{
    struct node *n = malloc(sizeof *n); // @alloc
    if (!n)
        return -1;
    n->value = value;
    n->next = head;
    head = n;
    return 0; // @leak
}

int main(void)
{
    int c;
    while ((c = getchar()) != EOF)
        if (add(c))
            break;
    while (head) {
        struct node *next = head->next;
        printf("%d\n", head->value);
        free(head);
        head = next;
    }
    return 0;
}
