// left alone: a long jump may come back into the function
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf back;

static int work(int n) {
    char *volatile text = strdup("text");
    if (!text)
        return -1;
    if (setjmp(back)) {
        puts(text);
        return 1;
    }
    if (n > 1)
        longjmp(back, 1);
    free(text);
    return 0;
}

int main(int argc, char **argv) {
    (void)argv;
    return work(argc) < 0;
}
