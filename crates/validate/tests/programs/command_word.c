// verdict: MUST-LEAK
// A command word with a number, real numbers to read, and two options that nothing but their effect together tells apart.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct command {
    const char *name;
    int number;
};

static const struct command commands[] = {{"mean", 1}, {"spread", 2}, {NULL, 0}};

int main(int argc, char **argv)
{
    int option, sorted = 0, full = 0, number = 0;
    while ((option = getopt(argc, argv, "fsq")) != -1) {
        if (option == '?')
            return 2;
        sorted |= option == 's';
        full |= option == 'f';
    }
    if (optind + 2 != argc || atoi(argv[optind + 1]) < 1)
        return 2;
    for (const struct command *c = commands; c->name; c++)
        if (strcmp(argv[optind], c->name) == 0)
            number = c->number;
    char line[64];
    double sum = 0;
    if (number == 0 || !fgets(line, sizeof line, stdin) || (sum = strtod(line, NULL)) == 0.0)
        return 2;
    char *p = malloc(16); // @alloc
    if (!p)
        return 1;
    if (number == 2 && sorted && full && sum > 0.5)
        return 0; // @leak
    free(p);
    return 0;
}
