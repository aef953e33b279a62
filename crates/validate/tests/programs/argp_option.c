// verdict: MUST-LEAK
// An option of argp that has no letter, with a value.
#include <argp.h>
#include <stdlib.h>
#include <string.h>

static char *label;

static const struct argp_option options[] = {
    { "quiet", 'q', 0, 0, "Say nothing", 0 },
    { "record-label", 300, "TEXT", 0, "Label of the record", 0 },
    { 0, 0, 0, 0, 0, 0 },
};

static error_t parse(int key, char *value, struct argp_state *state)
{
    (void)state;
    if (key != 300)
        return key == 'q' ? 0 : ARGP_ERR_UNKNOWN;
    label = strdup(value); // @alloc
    return 0;
}

int main(int argc, char **argv)
{
    const struct argp argp = { options, parse, 0, 0, 0, 0, 0 };
    argp_parse(&argp, argc, argv, 0, 0, 0);
    if (label && label[0] == 'z')
        label = 0; // @leak
    free(label);
    return 0;
}
