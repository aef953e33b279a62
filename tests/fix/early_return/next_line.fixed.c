// run: x
// run: longer
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check(const char *word)
{
    char *copy = strdup(word);
    if (copy == NULL)
        return -1;
    if (copy[1] == '\0') {
        free(copy);
        return 1; /* too short */
    }
    puts(copy);
    free(copy);
    return 0;
}

int main(int argc, char **argv)
{
    printf("%d\n", check(argc > 1 ? argv[1] : "word"));
    return 0;
}
