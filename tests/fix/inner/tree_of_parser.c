// run: 1+2*3
// run: (1+2)*(3
// run: 2*
// run: (2*(1+1))*(3+)
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

struct expr {
    int op;
    int value;
    struct expr *left, *right;
};

struct reader {
    const char *at;
    int depth;
};

static void expr_free(struct expr *e) {
    if (!e)
        return;
    expr_free(e->left);
    expr_free(e->right);
    free(e);
}

static struct expr *expr_new(int op, struct expr *left, struct expr *right) {
    struct expr *e = calloc(1, sizeof *e);
    if (!e) {
        expr_free(left);
        expr_free(right);
        return NULL;
    }
    e->op = op;
    e->left = left;
    e->right = right;
    return e;
}

static struct expr *sum(struct reader *r);

static struct expr *atom(struct reader *r) {
    if (*r->at == '(') {
        r->at++;
        struct expr *inner = sum(r);
        if (!inner)
            return NULL;
        if (*r->at != ')') {
            expr_free(inner);
            return NULL;
        }
        r->at++;
        return inner;
    }
    if (!isdigit((unsigned char)*r->at))
        return NULL;
    struct expr *e = expr_new('n', NULL, NULL);
    if (e)
        e->value = *r->at - '0';
    r->at++;
    return e;
}

static struct expr *product(struct reader *r) {
    struct expr *left = atom(r);
    if (!left)
        return NULL;
    if (*r->at == '*') {
        r->at++;
        struct expr *right = product(r);
        if (!right)
            return NULL;
        return expr_new('*', left, right);
    }
    return left;
}

static struct expr *sum(struct reader *r) {
    struct expr *left = product(r);
    while (left && *r->at == '+') {
        r->at++;
        struct expr *right = product(r);
        if (!right) {
            expr_free(left);
            return NULL;
        }
        left = expr_new('+', left, right);
    }
    return left;
}

static int value(const struct expr *e) {
    switch (e->op) {
    case '+':
        return value(e->left) + value(e->right);
    case '*':
        return value(e->left) * value(e->right);
    default:
        return e->value;
    }
}

int main(int argc, char **argv) {
    struct reader r = { argc > 1 ? argv[1] : "1", 0 };
    struct expr *e = sum(&r);
    if (!e) {
        puts("not an expression");
        return 0;
    }
    printf("%d\n", value(e));
    expr_free(e);
    return 0;
}
