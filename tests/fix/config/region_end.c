// run: word
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void work(const char *s)
{
#ifndef WITHOUT_COPY
    char *copy = strdup(s);
    if (copy == NULL)
        return;
    copy[0] = 'W';
    puts(copy);
#else
    puts(s);
#endif
}

int main(int argc, char **argv)
{
    work(argc > 1 ? argv[1] : "default");
    return 0;
}
