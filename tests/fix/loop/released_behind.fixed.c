// run: . /
// run: . x
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
static int put(char **v, const char *dst)
{
    char *abs_dst = NULL, *tmp, *filename;
    struct stat sb;
    int i, err = 0;
    for (i = 0; v[i]; i++) {
        if (stat(v[i], &sb) == -1) {
            err = -1;
            continue;
        }
        tmp = strdup(v[i]);
        if ((filename = basename(tmp)) == NULL) {
            free(tmp);
            err = -1;
            goto out;
        }
        if (dst) {
            free(abs_dst);
            abs_dst = strdup(dst);
        } else {
            free(abs_dst);
            abs_dst = strdup(filename);
        }
        free(tmp);
        puts(abs_dst);
    }
out:
    free(abs_dst);
    return err;
}
int main(int argc, char **argv)
{
    return put(argv + 1, argc > 2 ? argv[2] : NULL) < 0;
}
