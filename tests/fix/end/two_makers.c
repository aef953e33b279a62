// run: 1
// run: 0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int work(int which) {
    char *text;
    if (which)
        text = strdup("first");
    else
        text = malloc(10);
    if (!text)
        return -1;
    text[0] = 'X';
    printf("%c\n", text[0]);
    return 0;
}

int main(int argc, char **argv) {
    return work(argc > 1 ? atoi(argv[1]) : 1);
}
