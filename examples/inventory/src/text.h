/* Small helpers for text. */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>

/* A growing string. */
struct buffer {
    char *data;
    size_t length;
    size_t capacity;
};

int buffer_append(struct buffer *buffer, const char *text);
void buffer_free(struct buffer *buffer);

/* A copy of the text between white space. NULL when memory runs out. */
char *trimmed(const char *start, const char *end);

/* Splits `text` at the first `separator` into two new strings. Returns -1, and hands out nothing,
 * when there is no separator or no memory. */
int split_pair(const char *text, char separator, char **left, char **right);

int parse_number(const char *text, long *number);

#endif
