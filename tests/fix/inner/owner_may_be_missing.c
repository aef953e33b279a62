// run: x,y z,w
// run: x,y
// run: x z
// The struct that holds the parts need not be there.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char *street, *city;
} address_t;

typedef struct {
    char *name;
    address_t *work;
} person_t;

static void address_clear(address_t *a) {
    free(a->street);
    free(a->city);
    memset(a, 0, sizeof *a);
}

static int address_parse(address_t *a, const char *s) {
    const char *comma = strchr(s, ',');
    if (!comma)
        return -1;
    a->street = strndup(s, (size_t)(comma - s));
    a->city = strdup(comma + 1);
    if (!a->street || !a->city)
        return -1;
    return 0;
}

static void person_free(person_t *p) {
    if (p == NULL)
        return;
    free(p->name);
    free(p->work);
    free(p);
}

static person_t *person_new(const char *name, const char *work) {
    person_t *p = calloc(1, sizeof *p);
    if (p == NULL)
        return NULL;
    p->name = strdup(name);
    if (work) {
        p->work = calloc(1, sizeof *p->work);
        if (p->work == NULL || address_parse(p->work, work) < 0) {
            person_free(p);
            return NULL;
        }
    }
    return p;
}

int main(int argc, char **argv) {
    person_t *p = person_new(argv[argc > 1], argc > 2 ? argv[2] : NULL);
    address_t a = {NULL, NULL};
    printf("%s\n", p ? p->name : "-");
    person_free(p);
    if (address_parse(&a, "a,b") == 0)
        printf("%s\n", a.city);
    address_clear(&a);
    return 0;
}
