// run: word
// run: xword
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void work(const char *a) {
    char *p = strdup(a), *q;
    if (p == NULL)
        return;
    if (p[0] == 'x')
        goto out;
    q = p + 1;
    if (q[0] == 'y')
        goto out;
    puts(q);
out:
    free(p);
}

int main(int argc, char **argv) {
    work(argc > 1 ? argv[1] : "word");
    return 0;
}
