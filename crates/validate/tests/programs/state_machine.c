// verdict: MUST-LEAK
// Four states, one letter each, to get to the end.
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    int state = 0, c;
    char *buffer = malloc(8); // @alloc
    if (!buffer)
        return 1;
    while ((c = getchar()) != EOF) {
        switch (state) {
        case 0: state = c == '<' ? 1 : 0; break;
        case 1: state = c == 'q' ? 2 : 0; break;
        case 2: state = c == '7' ? 3 : 0; break;
        case 3:
            if (c == '>')
                return 3; // @leak
            state = 0;
            break;
        }
    }
    free(buffer);
    return 0;
}
