// run: x y
// run: x a
// run: b
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int work(int argc, char **argv) {
    char *copy;
    int result = 0;
    for (int i = 1; i < argc; i++) {
        copy = strdup(argv[i]);
        if (!copy)
            return -1;
        if (copy[0] == 'a') {
            result = 1;
            free(copy);
            goto out;
        }
        if (copy[0] == 'b') {
            free(copy);
            goto out;
        }
        puts(copy);
        free(copy);
    }
    puts("all");
out:
    printf("%d\n", result);
    return result;
}

int main(int argc, char **argv) {
    return work(argc, argv) < 0;
}
