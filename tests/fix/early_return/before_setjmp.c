// run: 4
// run:
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf back;

static int work(int n) {
    char *text = strdup("text");
    if (!text)
        return -1;
    if (n == 1)
        return 1;
    puts(text);
    free(text);
    if (setjmp(back))
        return 2;
    if (n > 1)
        longjmp(back, 1);
    return 0;
}

int main(int argc, char **argv) {
    (void)argv;
    return work(argc) < 0;
}
