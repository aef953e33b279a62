// left alone: another configuration makes the pointer something else
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int work(int early) {
    char *text;
#ifdef STATIC_TEXT
    static char fixed[] = "text";
    text = fixed;
#else
    text = strdup("text");
#endif
    if (!text)
        return -1;
    if (early)
        return 1;
    puts(text);
#ifndef STATIC_TEXT
    free(text);
#endif
    return 0;
}

int main(int argc, char **argv) {
    return work(argc > 1) < 0;
}
