// run: word
// run: w
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int work(const char *s) {
    int rc = -1;
    char *buf = strdup(s);
    if (!buf)
        return -1;
    if (strlen(buf) < 2) {
        rc = -2;
        goto done;
    }
    if (buf[0] == 'x')
        goto done;
    puts(buf);
    rc = 0;
done:
    free(buf);
    return rc;
}

int main(int argc, char **argv) {
    printf("%d\n", work(argc > 1 ? argv[1] : "default"));
    return 0;
}
