// verdict: MUST-LEAK
// A factor on the command line and a table of measurements, both with fractions.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    char *end;
    if (argc != 2)
        return 1;
    double factor = strtod(argv[1], &end);
    if (end == argv[1] || factor <= 0.0)
        return 1;
    double *values = malloc(3 * sizeof *values); // @alloc
    if (!values)
        return 1;
    for (int i = 0; i < 3; i++)
        if (scanf("%lf", &values[i]) != 1) {
            free(values);
            return 1;
        }
    printf("%g\n", factor * (values[0] + values[1] + values[2]));
    return 0; // @leak
}
