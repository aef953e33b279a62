// verdict: MUST-LEAK
// A child releases its own copy; the parent's is never released.
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char *p = malloc(16); // @alloc
    if (!p)
        return 1;
    strcpy(p, "text");
    int status = 0;
    pid_t child = fork(); // @leak
    if (child == 0) {
        p[0] = 'T';
        free(p);
        return 0;
    }
    if (child > 0)
        waitpid(child, &status, 0);
    return status;
}
