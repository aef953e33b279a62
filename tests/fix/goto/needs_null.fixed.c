// run: word
// run: w
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int work(const char *s) {
    int rc = -1;
    char *copy = NULL;
    if (strlen(s) < 2)
        goto out;
    copy = strdup(s);
    if (!copy)
        goto out;
    puts(copy);
    rc = 0;
out:
    puts("done");
    free(copy);
    return rc;
}

int main(int argc, char **argv) {
    printf("%d\n", work(argc > 1 ? argv[1] : "default"));
    return 0;
}
