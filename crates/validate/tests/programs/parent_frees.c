// verdict: LIKELY-NOT-LEAK
// What a child leaves behind is not its parent's leak.
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char *p = malloc(16); // @alloc
    if (!p)
        return 1;
    int status = 0;
    pid_t child = fork(); // @leak
    if (child == 0)
        _exit(0);
    p[0] = 'T';
    if (child > 0)
        waitpid(child, &status, 0);
    free(p);
    return status;
}
