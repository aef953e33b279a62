// run: word
// run: w
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int work(const char *s) {
    int rc = -1;
    char *second = NULL;
    char *first = strdup(s);
    if (!first)
        goto out;
    if (strlen(first) < 2)
        goto out;
    second = strdup("second");
    if (!second)
        goto out;
    printf("%s %s\n", first, second);
    rc = 0;
out:
    free(second);
    return rc;
}

int main(int argc, char **argv) {
    printf("%d\n", work(argc > 1 ? argv[1] : "default"));
    return 0;
}
