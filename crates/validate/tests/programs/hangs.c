// verdict: MAY-LEAK
// budget: 8
// Every run that passes the leak point goes on for ever.
#include <stdlib.h>

int main(void)
{
    char *p = malloc(3); // @alloc
    if (!p)
        return 1;
    p = 0; // @leak
    for (;;)
        ;
}
