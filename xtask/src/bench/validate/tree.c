/* Puts the bytes of standard input into a search tree, walks it many times, and frees it. */
#include <stdio.h>
#include <stdlib.h>

struct node { struct node *left, *right; int key, count; };

static struct node *insert(struct node *root, int key)
{
    struct node **at = &root;
    while (*at) {
        if ((*at)->key == key) {
            (*at)->count++;
            return root;
        }
        at = key < (*at)->key ? &(*at)->left : &(*at)->right;
    }
    struct node *made = calloc(1, sizeof *made); // @alloc
    if (!made)
        return root;
    made->key = key;
    *at = made; // @leak
    return root;
}

static long sum(const struct node *n)
{
    return n ? n->key * (long)n->count + sum(n->left) + sum(n->right) : 0;
}

static void release(struct node *n)
{
    if (!n)
        return;
    release(n->left);
    release(n->right);
    free(n);
}

int main(void)
{
    struct node *root = 0;
    long total = 0;
    int c;
    while ((c = getchar()) != EOF)
        root = insert(root, (c * 7919) % 1009);
    for (int i = 0; i < 2000; i++)
        total += sum(root);
    release(root);
    return total == 1;
}
