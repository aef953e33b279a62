// left alone: whether it is owned cannot be asked a second time
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int turns;

static int next(void) {
    return turns++ % 2;
}

static int work(void) {
    char *text = "literal";
    if (next()) {
        text = strdup("owned");
        if (!text)
            return -1;
    }
    puts(text);
    return 0;
}

int main(void) {
    return work() + work();
}
