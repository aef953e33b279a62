// verdict: MUST-LEAK
// A thread's result is thrown away when the first letter is an x.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void *work(void *data)
{
    int *result = malloc(sizeof *result); // @alloc
    if (result)
        *result = *(int *)data * 2;
    return result;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int n = argc;
    void *result = NULL;
    if (argc < 2 || pthread_create(&thread, NULL, work, &n) != 0)
        return 1;
    pthread_join(thread, &result);
    if (argv[1][0] == 'x')
        return 2; // @leak
    free(result);
    return 0;
}
