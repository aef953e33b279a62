// left alone: released under another name
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int work(const char *s) {
    char *copy = strdup(s);
    char *same = copy;
    if (!copy)
        return -1;
    puts(copy);
    free(same);
    return 0;
}

int main(int argc, char **argv) {
    return work(argc > 1 ? argv[1] : "word");
}
