// At the end the other branch has given it away, on its own branch nobody has it.
// run: 
// run: a
// run: a b
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *kept;

static void keep(char *text)
{
    free(kept);
    kept = text;
}

static void write_out(const char *text)
{
    printf("%s\n", text);
}

static int show(const char *word, int direct)
{
    char *text = strdup(word);

    if (text == NULL)
        return -1;
    if (direct) {
        write_out(text);
        free(text);
    } else
        keep(text);
    return 0;
}

int main(int argc, char **argv)
{
    int r = show(argc > 1 ? argv[1] : "none", argc == 2);

    free(kept);
    return r;
}
