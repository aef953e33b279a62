// run: 3
// left alone: the call may be made for what it leaves in the variable
#include <stdio.h>
#include <stdlib.h>

static double *table(double from, int *len) {
    double *t;
    *len = 4;
    if (from < 0)
        return NULL;
    t = calloc(4, sizeof *t);
    if (t)
        t[0] = from;
    return t;
}

int main(int argc, char **argv) {
    double from = argc > 1 ? atof(argv[1]) : 1;
    int len = 0;
    double *t;
    table(-from, &len);
    printf("%d\n", len);
    t = table(from, &len);
    free(t);
    return 0;
}
