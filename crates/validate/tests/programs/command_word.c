// verdict: MUST-LEAK
// A command word with a number behind an option, and real numbers to read.
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
    int option, full = 0, number = 0;
    while ((option = getopt(argc, argv, "fq")) != -1) {
        if (option == '?')
            return 2;
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
    if (number == 2 && full && sum > 0.5)
        return 0; // @leak
    free(p);
    return 0;
}
