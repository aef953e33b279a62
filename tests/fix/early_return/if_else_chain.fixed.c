// run: 0
// run: 1
// run: 2
// run: 7
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int pick(int n) {
    char *text = malloc(16);
    if (!text)
        return -1;
    strcpy(text, "picked");
    if (n == 0) {
        free(text);
        return 10;
    } else if (n == 1) {
        free(text);
        return 11;
    } else if (n == 2)
        printf("%s\n", text);
    else {
        free(text);
        return 13;
    }
    free(text);
    return 0;
}

int main(int argc, char **argv) {
    printf("%d\n", pick(argc > 1 ? atoi(argv[1]) : 2));
    return 0;
}
