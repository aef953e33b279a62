// verdict: MUST-LEAK
// Figure 3 (a) of the ISSTA 2013 paper.
#include <stdio.h>
#include <stdlib.h>

char *foo(int size)
{
    char *result = 0;
    if (size > 0) { // @branch 1 T
        result = malloc(size * sizeof(char)); // @alloc
    }
    if (size > 10) { // @branch 2 T
        return NULL; // @leak
    }
    return result;
}

int main(void)
{
    int i;
    char *ptr;
    if (scanf("%d", &i) != 1)
        return 1;
    ptr = foo(i);
    if (i > 0 && ptr) {
        ptr[0] = 'x';
        putchar(ptr[0]);
        free(ptr);
    }
    return 0;
}
