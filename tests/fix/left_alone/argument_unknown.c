// left alone: how many there are to release, only another function knows
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char **words_new(const char *text, int *count) {
    int n = 0;
    char **words = calloc(strlen(text) + 1, sizeof *words);
    if (words == NULL)
        return NULL;
    for (; text[n] != '\0'; n++)
        words[n] = strdup(text + n);
    *count = n;
    return words;
}

static void words_free(int count, char **words) {
    for (int i = 0; i < count; i++)
        free(words[i]);
    free(words);
}

static int all(const char *text) {
    int count = 0;
    char **words = words_new(text, &count);
    if (words == NULL)
        return -1;
    words_free(count, words);
    return count;
}

static int first(const char *text) {
    int found;
    char **words = words_new(text, &found);
    if (words == NULL)
        return -1;
    return found > 0 && words[0] != NULL && words[0][0] == 'a';
}

int main(int argc, char **argv) {
    const char *text = argc > 1 ? argv[1] : "abc";
    printf("%d %d\n", all(text), first(text));
    return 0;
}
