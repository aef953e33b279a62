// run: a
// run: ab
// run: abc
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int join(const char *s) {
    char *left = strdup(s);
    if (!left)
        return -1;
    char *right = strdup("tail");
    if (!right) {
        free(left);
        return -2;
    }
    if (strlen(s) == 1) {
        free(left);
        free(right);
        return -3;
    }
    if (strlen(s) == 2) {
        free(left);
        free(right);
        return -4;
    }
    printf("%s%s\n", left, right);
    free(left);
    free(right);
    return 0;
}

int main(int argc, char **argv) {
    printf("%d\n", join(argc > 1 ? argv[1] : "word"));
    return 0;
}
