// verdict: MAY-LEAK
// budget: 6
// What one line makes is freed by its end. Another line passes the leak point without making anything, so that the objects
// of the first say nothing about it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pair {
    char *left, *right;
};

static int line_of(const char *line)
{
    struct pair *pair = NULL;
    if (line[0] == '(') {
        pair = calloc(1, sizeof *pair); // @alloc
        if (!pair)
            return 1;
        pair->left = strdup(line + 1);
        free(pair->left);
        free(pair);
    } else if (strchr(line, ')')) {
        return 2; // @leak
    }
    return 0;
}

int main(void)
{
    char line[80];
    int last = 0;
    while (fgets(line, sizeof line, stdin))
        last = line_of(line);
    return last;
}
