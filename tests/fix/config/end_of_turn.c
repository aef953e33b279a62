// Behind the condition other configurations have a say, at the end of the turn they have none.
// run: 
// run: a b
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void show(int n, char **words)
{
    char *copy;
    int i;

    puts("words");
#ifndef WITHOUT_WORDS
    for (i = 1; i < n; i++) {
        copy = strdup(words[i]);
        if (copy == NULL)
            exit(1);
        puts(copy);
    }
#endif
}

int main(int argc, char **argv)
{
    show(argc, argv);
    return 0;
}
