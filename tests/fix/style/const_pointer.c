// run: word
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int work(const char *s) {
    const char *copy = strdup(s);
    if (!copy)
        return -1;
    puts(copy);
    return 0;
}

int main(int argc, char **argv) {
    return work(argc > 1 ? argv[1] : "word");
}
