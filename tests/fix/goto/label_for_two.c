// run: word
// run: /dev/null
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int work(const char *a, int n) {
    int rc = -1;
    char *p = NULL, *q = NULL;
    FILE *f = NULL;
    p = strdup(a);
    if (p == NULL)
        goto out;
    q = malloc(n);
    if (q == NULL)
        goto out;
    f = fopen(a, "r");
    if (f == NULL)
        return -2;
    rc = (int)strlen(p) + n;
out:
    if (f)
        fclose(f);
    free(q);
    free(p);
    return rc;
}
int main(int c, char **v) { printf("%d\n", work(v[c - 1], c)); return 0; }
