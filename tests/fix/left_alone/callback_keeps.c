// object: the library is missing
// left alone: the library keeps the pointer
#include <stdlib.h>
#include <string.h>

void register_handler(void (*f)(void *), void *data);
void handler(void *data);

int work(int n) {
    char *state = malloc(10);
    if (!state)
        return -1;
    register_handler(handler, state);
    if (n)
        return 1;
    return 0;
}
