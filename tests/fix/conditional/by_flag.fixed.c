// run: 1
// run: 0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int work(int own) {
    char *text = "literal";
    if (own) {
        text = strdup("owned");
        if (!text)
            return -1;
    }
    puts(text);
    if (own)
        free(text);
    return 0;
}

int main(int argc, char **argv) {
    return work(argc > 1 ? atoi(argv[1]) : 1);
}
