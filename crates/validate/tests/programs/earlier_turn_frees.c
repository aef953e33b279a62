// verdict: BLOAT
// budget: 10
// Each line frees its own object before the leak point is passed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    int kind;
    double value;
    char *name;
};

static struct node *fresh(int kind)
{
    struct node *n = calloc(1, sizeof *n);
    if (n)
        n->kind = kind;
    return n;
}

static struct node *word(const char *text)
{
    struct node *n = fresh(2);
    if (n)
        n->name = strdup(text);
    return n;
}

static void drop(struct node *n)
{
    if (n)
        free(n->name);
    free(n);
}

static struct node *operand(const char *text);

static void line_of(char *line)
{
    struct node *n = operand(line); // @alloc
    if (!n)
        return;
    char *power = strchr(line, '^');
    drop(n);
    if (power && power[1] == '!')
        return; // @leak
}

static struct node *operand(const char *text)
{
    if (*text >= '0' && *text <= '9')
        return fresh(1); // @alloc
    if (*text >= 'a' && *text <= 'z')
        return word(text);
    return NULL;
}

int main(void)
{
    char line[80];
    while (fgets(line, sizeof line, stdin))
        line_of(line);
    return 0;
}
