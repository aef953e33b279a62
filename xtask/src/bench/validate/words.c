/* Counts the words of standard input in a table of lists, and frees everything. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct word { struct word *next; int count; char text[16]; };
static struct word *table[64];

static void add(const char *text)
{
    unsigned hash = 0;
    for (const char *c = text; *c; c++)
        hash = hash * 31 + (unsigned char)*c;
    struct word **at = &table[hash % 64];
    for (struct word *w = *at; w; w = w->next)
        if (!strcmp(w->text, text)) {
            w->count++;
            return;
        }
    struct word *made = malloc(sizeof *made); // @alloc
    if (!made)
        return;
    strcpy(made->text, text);
    made->count = 1;
    made->next = *at;
    *at = made; // @leak
}

int main(void)
{
    char text[16];
    int c, length = 0, most = 0;
    while ((c = getchar()) != EOF) {
        if (!isspace(c) && length < 15) {
            text[length++] = (char)c;
            continue;
        }
        text[length] = 0;
        if (length)
            add(text);
        length = 0;
    }
    for (int i = 0; i < 64; i++)
        for (struct word *w = table[i], *next; w; w = next) {
            next = w->next;
            if (w->count > most)
                most = w->count;
            free(w);
        }
    return most > 100;
}
