// verdict: MUST-LEAK
// A variable that nobody sets, by the name that a function is given.
#include <stdlib.h>
#include <string.h>

static int option_count(const char *variable)
{
    const char *value = getenv(variable);
    if (!value)
        return 0;
    char *copy = strdup(value); // @alloc
    if (!copy)
        return 0;
    if (strchr(copy, ':'))
        return 2; // @leak
    free(copy);
    return 1;
}

int main(void)
{
    return option_count("TOOLFLAGS");
}
