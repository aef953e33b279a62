// Functions that are too large to be told in full: what their summaries leave out may be a release, or a
// reference that stays.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEN(x) x x x x x x x x x x

struct deep {
    struct deep *in;
    char *text;
};

struct wide {
    char *f00, *f01, *f02, *f03, *f04, *f05, *f06, *f07, *f08, *f09;
    char *f10, *f11, *f12, *f13, *f14, *f15, *f16, *f17, *f18, *f19;
    char *f20, *f21, *f22, *f23, *f24, *f25, *f26, *f27, *f28, *f29;
    char *f30, *f31, *f32, *f33, *f34, *f35, *f36, *f37, *f38, *f39;
    char *f40, *f41, *f42, *f43, *f44, *f45, *f46, *f47, *f48, *f49;
    int state;
};

static char *last_seen;
static volatile int seed;

// Released far away from what the function is given.
static void drop_deep(struct deep *d) {
    free(d->in->in->in->in->in->in->in->text);
}

static int deep_release(void) {
    struct deep d[8];
    char *text = strdup("deep");
    memset(d, 0, sizeof d);
    for (int i = 0; i < 7; i++)
        d[i].in = &d[i + 1];
    d[7].text = text;
    drop_deep(d);
    free(text); // unsafe: it was released through eight structs
    return 0;
}

static int deep_release_by_hand(struct deep *a, struct deep *b, struct deep *c) {
    char *text = strdup("deep");
    struct deep e = {NULL, text}, f = {&e, NULL}, g = {&f, NULL}, h = {&g, NULL}, i = {&h, NULL}, j = {&i, NULL},
                k = {&j, NULL}, l = {&k, NULL};
    a->in = b;
    b->in = c;
    drop_deep(&l);
    free(text); // unsafe: it was released through eight structs
    return 0;
}

#define DROP(n) \
    if (w->f##n != NULL && seed == 1##n) { \
        free(w->f##n); \
        w->f##n = NULL; \
        w->state++; \
    }

// More releases than a summary has room for.
static int drop_some(struct wide *w) {
    DROP(00) DROP(01) DROP(02) DROP(03) DROP(04) DROP(05) DROP(06) DROP(07) DROP(08) DROP(09)
    DROP(10) DROP(11) DROP(12) DROP(13) DROP(14) DROP(15) DROP(16) DROP(17) DROP(18) DROP(19)
    DROP(20) DROP(21) DROP(22) DROP(23) DROP(24) DROP(25) DROP(26) DROP(27) DROP(28) DROP(29)
    DROP(30) DROP(31) DROP(32) DROP(33) DROP(34) DROP(35) DROP(36) DROP(37) DROP(38) DROP(39)
    DROP(40) DROP(41) DROP(42) DROP(43) DROP(44) DROP(45) DROP(46) DROP(47) DROP(48) DROP(49)
    return w->state;
}

static int wide_release(void) {
    struct wide w;
    char *first = strdup("first"), *middle = strdup("middle"), *last = strdup("last");
    memset(&w, 0, sizeof w);
    w.f00 = first;
    w.f27 = middle;
    w.f49 = last;
    drop_some(&w);
    free(first); // unsafe: it may be released with the struct
    free(middle); // unsafe: it may be released with the struct
    free(last); // unsafe: it may be released with the struct
    return 0;
}

#define SET(n) \
    if (seed == 1##n) \
        w->f##n = text;

// Kept in one of many places.
static void put_somewhere(struct wide *w, char *text) {
    SET(00) SET(01) SET(02) SET(03) SET(04) SET(05) SET(06) SET(07) SET(08) SET(09)
    SET(10) SET(11) SET(12) SET(13) SET(14) SET(15) SET(16) SET(17) SET(18) SET(19)
    SET(20) SET(21) SET(22) SET(23) SET(24) SET(25) SET(26) SET(27) SET(28) SET(29)
    SET(30) SET(31) SET(32) SET(33) SET(34) SET(35) SET(36) SET(37) SET(38) SET(39)
    SET(40) SET(41) SET(42) SET(43) SET(44) SET(45) SET(46) SET(47) SET(48) SET(49)
}

static int wide_keep(struct wide *w) {
    char *text = strdup("text");
    if (text == NULL)
        return -1;
    put_somewhere(w, text);
    free(text); // unsafe: the caller's struct may have it
    return 0;
}

static int step(int n) {
    return seed > n;
}

#define CASE(n, m) \
    case n: \
        if (step(m)) \
            return -n; \
        if (step(m + 1)) \
            return n; \
        break;

// Ways out without number, and one in between releases.
static int many_ways(struct deep *d, int how) {
    int r = 0;
    switch (how) {
        CASE(1, 0)
        CASE(2, 3)
        CASE(3, 5)
        CASE(4, 7)
        CASE(5, 11)
        CASE(6, 13)
    case 7:
        if (step(4))
            return -7;
        if (step(9)) {
            free(d->text);
            d->text = NULL;
            return -7;
        }
        break;
        CASE(8, 17)
        CASE(9, 19)
        CASE(10, 23)
    case 11:
        if (step(29)) {
            last_seen = d->text;
            return -7;
        }
        if (step(30))
            return 5;
        break;
        CASE(12, 31)
        CASE(13, 37)
    default:
        for (int i = 0; i < how; i++)
            r += step(i);
    }
    if (r > 4)
        return -7;
    return r;
}

static int one_way_releases(int how) {
    struct deep d = {NULL, NULL};
    char *text = strdup("text");
    if (text == NULL)
        return -1;
    d.text = text;
    if (many_ways(&d, how) == -7) {
        free(text); // unsafe: on one way it was released, on another a global has it
        return -1;
    }
    return 0;
}

static int one_way_releases_unasked(int how) {
    struct deep d = {NULL, NULL};
    char *text = strdup("text");
    if (text == NULL)
        return -1;
    d.text = text;
    many_ways(&d, how);
    free(text); // unsafe: on one way it was released, on another a global has it
    return 0;
}

// Loops of a large function are followed for fewer turns.
static int large(int n, char **words) {
    char *last = NULL;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            TEN(TEN(TEN(seed += i ^ j; seed -= j;)))
        }
        if (last != NULL)
            puts(last);
        if (last == NULL || i % 2 == 0)
            last = strdup(words[i]);
        if (last == NULL)
            break;
        if (i % 3 == 0)
            free(last); // unsafe: the next turn may print it
    }
    return 0;
}

static int large_inside(int n, char **words) {
    char *last = NULL;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            TEN(TEN(TEN(seed += i ^ j; seed -= j;)))
            if (last != NULL && j % 7 == 3)
                puts(last);
            if (last == NULL)
                last = strdup(words[i]);
            if (last == NULL)
                return -1;
            if (j % 3 == 0) {
                free(last); // unsafe: the next turn may print it
            }
        }
    }
    return 0;
}

static int large_end_of_turn(int n, char **words) {
    char *last;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            TEN(TEN(TEN(seed += i ^ j; seed -= j;)))
        }
        last = strdup(words[i]);
        if (last == NULL)
            return -1;
        puts(last);
        free(last); // safe
    }
    return 0;
}

int main(int argc, char **argv) {
    struct wide w;
    struct deep a, b, c;
    memset(&w, 0, sizeof w);
    int r = deep_release() + deep_release_by_hand(&a, &b, &c) + wide_release() + wide_keep(&w) +
            one_way_releases(argc) + one_way_releases_unasked(argc) + large(argc, argv) +
            large_inside(argc, argv) + large_end_of_turn(argc, argv);
    printf("%s %s\n", last_seen, w.f10);
    return r;
}
