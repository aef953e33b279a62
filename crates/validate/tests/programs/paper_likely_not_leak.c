// verdict: LIKELY-NOT-LEAK
// Figure 3 (b) of the ISSTA 2013 paper: kept in a global array, used and freed later.
#include <stdio.h>
#include <stdlib.h>

char *ptrArr[256];
unsigned int index_ = 0;

void addToGlobal(char *p) { ptrArr[index_++] = p; }

void foo(int len)
{
    char *p, fastbuf[10];
    if (len <= 10) // @branch 1 F
        p = fastbuf;
    else {
        p = malloc(len > 100 ? 100 : len); // @alloc
        if (!p)
            return;
        p[0] = 'x';
        addToGlobal(p);
    }
    return;
} // @leak

int main(void)
{
    int len;
    if (scanf("%d", &len) != 1)
        return 1;
    foo(len);
    for (unsigned i = 0; i < index_; i++)
        putchar(ptrArr[i][0]);
    for (unsigned i = 0; i < index_; i++)
        free(ptrArr[i]);
    return 0;
}
