// The object goes by another name: returned by a callee, hidden in a number, moved by realloc.
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pair {
    char *a, *b;
};

static char *skip(char *s) {
    while (*s == ' ')
        s++;
    return s;
}

static char *same_or_new(char *s) {
    return s[0] == 'x' ? strdup("new") : s;
}

static char *returned_inside(const char *s) {
    char *copy = strdup(s);
    char *word;
    if (copy == NULL)
        return NULL;
    word = skip(copy);
    free(copy); // unsafe: what is returned points into it
    return word;
}

static char *returned_same(const char *s) {
    char *copy = strdup(s);
    char *out;
    if (copy == NULL)
        return NULL;
    out = same_or_new(copy);
    free(copy); // unsafe: it may be what is returned
    return out;
}

static int used_by_alias(const char *s) {
    char *copy = strdup(s);
    char *word;
    if (copy == NULL)
        return -1;
    word = skip(copy);
    free(copy); // unsafe: the word is printed
    return puts(word);
}

static int moved(void) {
    char *p = malloc(4);
    char *q;
    if (p == NULL)
        return -1;
    q = realloc(p, 8);
    if (q == NULL) {
        free(p); // safe
        return -1;
    }
    q[0] = 1;
    free(p); // unsafe: it was moved
    free(q);
    return 0;
}

static uintptr_t tagged(void *p, int tag) {
    return (uintptr_t)p | (uintptr_t)tag;
}

static uintptr_t cells[4];

static int in_number(int n) {
    char *p = malloc(8);
    if (p == NULL)
        return -1;
    cells[n & 3] = tagged(p, n & 1);
    if (n > 5) {
        free(p); // unsafe: the number in the cell is its address
        return -1;
    }
    return 0;
}

static int out_of_number(int n) {
    char *p = malloc(8);
    uintptr_t word;
    if (p == NULL)
        return -1;
    word = tagged(p, 1);
    free((void *)(word & ~(uintptr_t)1));
    if (n > 5)
        free(p); // unsafe: it was released by its number
    return 0;
}

static int halves(int n) {
    struct pair two = {malloc(4), NULL};
    two.b = two.a;
    if (n > 3)
        free(two.b);
    free(two.a); // unsafe: the other half was released
    return 0;
}

static jmp_buf back;

static void jump(int n) {
    if (n > 3)
        longjmp(back, 1);
}

static int jumped(int n) {
    char *volatile p = malloc(4);
    if (p == NULL)
        return -1;
    if (setjmp(back) != 0) {
        free(p); // unsafe: the jump may come after the other release
        return -1;
    }
    jump(n);
    free(p);
    jump(n + 1);
    return 0;
}

static int written_bytewise(char **out, const char *s) {
    char *copy = strdup(s);
    if (copy == NULL)
        return -1;
    memcpy(out, &copy, sizeof copy);
    if (s[0] == 'x') {
        free(copy); // unsafe: the caller has it
        return -1;
    }
    return 0;
}

int main(int argc, char **argv) {
    char *out = NULL;
    char *a = returned_inside(argv[0]), *b = returned_same(argv[0]);
    int r = written_bytewise(&out, argv[0]) + used_by_alias(argv[0]) + moved() + in_number(argc) +
            out_of_number(argc) + halves(argc) + jumped(argc);
    printf("%s %s %s\n", a, b, out);
    return r;
}
