// verdict: LIKELY-NOT-LEAK
// Another thread uses the object and frees it.
#include <pthread.h>
#include <stdlib.h>

static void *consume(void *data)
{
    char *text = data;
    text[0] = 'b';
    free(text);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    char *text = malloc(16); // @alloc
    if (!text)
        return 1;
    text[0] = argc > 1 ? argv[1][0] : 'a';
    int more = argc > 3; // @leak
    if (pthread_create(&thread, NULL, consume, text) != 0) {
        text[0] = 0;
        free(text);
        return 1;
    }
    pthread_join(thread, NULL);
    return more;
}
