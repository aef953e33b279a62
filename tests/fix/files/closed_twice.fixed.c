// options: --families file
// run: /dev/null
// run: /dev/zero
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int first_byte(const char *name) {
    FILE *f = fopen(name, "r");
    if (!f)
        return -2;
    int c = fgetc(f);
    if (c == EOF) {
        fclose(f);
        return -1;
    }
    fclose(f);
    return c;
}

int main(int argc, char **argv) {
    printf("%d\n", first_byte(argc > 1 ? argv[1] : "/dev/null"));
    return 0;
}
