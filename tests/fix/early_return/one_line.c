// run: short
// run: much-too-long
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int shout(const char *word) {
    char *copy = strdup(word);
    if (copy == NULL) return -1;
    if (strlen(copy) > 8) return 1;
    copy[0] = '!';
    puts(copy);
    free(copy);
    return 0;
}

int main(int argc, char **argv) {
    return printf("%d\n", shout(argc > 1 ? argv[1] : "word")) < 0;
}
