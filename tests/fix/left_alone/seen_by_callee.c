// left alone: a later call still looks at it
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *current;

static void show(void) {
    if (current)
        puts(current);
}

static int work(int n) {
    char *text = strdup("text");
    if (!text)
        return -1;
    current = text;
    show();
    if (n > 1)
        current = NULL;
    return n;
}

int main(int argc, char **argv) {
    (void)argv;
    int n = work(argc);
    show();
    return n < 0;
}
