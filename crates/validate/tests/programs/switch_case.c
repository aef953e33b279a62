// verdict: MUST-LEAK
// One case of many.
#include <stdio.h>
#include <stdlib.h>

static int run(int command)
{
    char *p = malloc(12); // @alloc
    if (!p)
        return -1;
    switch (command) {
    case 11: case 17: puts("a"); break;
    case 290: puts("b"); break;
    case 4711: return 4; // @leak
    default: puts("?");
    }
    free(p);
    return 0;
}

int main(void)
{
    int command;
    if (scanf("%d", &command) != 1)
        return 1;
    return run(command);
}
