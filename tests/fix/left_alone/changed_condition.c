// left alone: the condition under which it was made means something else later
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
    own = !own;
    puts(text);
    return own;
}

int main(int argc, char **argv) {
    (void)argv;
    return work(argc > 1) < 0;
}
