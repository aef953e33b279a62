// object: the function is not there
// left alone: nobody knows what became of it before the label
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void note(char *text);

int work(const char *a, int n) {
    int rc = -1;
    char *p = strdup(a);
    if (p == NULL)
        return -1;
    note(p);
    if (n > 3)
        return -2;
    rc = 0;
    if (n > 2)
        goto out;
    puts(p);
out:
    free(p);
    return rc;
}

int main(int argc, char **argv) {
    return work(argv[0], argc);
}
