// A callee with many ways out releases what it is given on some of them, or keeps it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job {
    char *name;
    int state, tries, kind;
};

static struct job *queue[8];
static int used;

static int step(int n) {
    return n > 3 ? getchar() : n;
}

// Many ways out, and some release.
static int submit(struct job *j, const char *how, int *code) {
    *code = 0;
    if (how == NULL)
        return -1;
    if (strlen(how) > 20) {
        *code = 1;
        return -2;
    }
    if (how[0] == 'a') {
        if (step(1) > 4)
            return -3;
        if (step(2) < 0) {
            free(j);
            return -4;
        }
        *code = 2;
    } else if (how[0] == 'b') {
        if (step(5) < 0) {
            *code = 3;
            return -5;
        }
        if (step(6) < 0) {
            free(j);
            *code = 4;
            return -5;
        }
    } else if (how[0] == 'c') {
        if (step(7) == 3)
            return -6;
        if (step(8) == 4)
            return -7;
        if (used < 8 && step(9) == 5) {
            queue[used++] = j;
            return -7;
        }
        if (step(10) == 6)
            return -8;
    } else {
        switch (step(11)) {
        case 1: return -9;
        case 2: *code = 6; return -10;
        case 3: free(j); return -11;
        case 4: *code = 7; return -12;
        case 5: return -13;
        case 6: return -14;
        }
    }
    if (step(12) < 0) {
        *code = 8;
        return -15;
    }
    free(j);
    return 0;
}

static int failed(const char *how) {
    struct job *j = calloc(1, sizeof *j);
    int code;
    if (j == NULL)
        return -1;
    if (submit(j, how, &code) != 0) {
        free(j); // unsafe: some failures release it
        return -1;
    }
    return code;
}

static int failed_in_one_way(const char *how) {
    struct job *j = calloc(1, sizeof *j);
    int code, r;
    if (j == NULL)
        return -1;
    r = submit(j, how, &code);
    if (r == -5) {
        free(j); // unsafe: one of two ways to return -5 releases it
        return -1;
    }
    return code;
}

static int failed_by_code(const char *how) {
    struct job *j = calloc(1, sizeof *j);
    int code, r;
    if (j == NULL)
        return -1;
    r = submit(j, how, &code);
    if (r == -7)
        free(j); // unsafe: one of two ways to return -7 keeps it
    return code;
}

static int failed_early(const char *how) {
    struct job *j = calloc(1, sizeof *j);
    int code;
    if (j == NULL)
        return -1;
    if (how == NULL) {
        free(j); // safe
        return -1;
    }
    return submit(j, how, &code);
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : NULL;
    return failed(how) + failed_in_one_way(how) + failed_by_code(how) + failed_early(how);
}
