// run: word
// run: xword
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int work(const char *a) {
    int rc = -1;
    char *p = strdup(a), *q;
    if (p == NULL)
        return -1;
    if (p[0] == 'x') {
        free(p);
        return -2;
    }
    q = p + 1;
    if (q[0] == 'y')
        goto out;
    puts(q);
    rc = 0;
out:
    puts("ready");
    free(p);
    return rc;
}

int main(int argc, char **argv) {
    printf("%d\n", work(argc > 1 ? argv[1] : "word"));
    return 0;
}
