// verdict: MUST-LEAK
// Letter, digit, punctuation, and the letter is small when made so.
#include <ctype.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc < 2)
        return 1;
    const char *s = argv[1];
    char *p = malloc(6); // @alloc
    if (!p)
        return 1;
    if (isalpha((unsigned char)s[0]) && tolower((unsigned char)s[0]) == 'k'
        && isdigit((unsigned char)s[1]) && ispunct((unsigned char)s[2]))
        return 2; // @leak
    free(p);
    return 0;
}
