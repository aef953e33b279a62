// verdict: MUST-LEAK
// The buffer that getline made is forgotten when the line is a comment.
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    char *line = 0;
    size_t n = 0;
    if (getline(&line, &n, stdin) < 0) { // @alloc
        free(line);
        return 1;
    }
    if (line[0] == '#' && line[1] == '!')
        return 2; // @leak
    fputs(line, stdout);
    free(line);
    return 0;
}
