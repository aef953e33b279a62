#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

int buffer_append(struct buffer *buffer, const char *text)
{
    size_t length = strlen(text);

    if (buffer->length + length + 1 > buffer->capacity) {
        size_t capacity = (buffer->length + length + 1) * 2;
        char *data = realloc(buffer->data, capacity);
        if (!data)
            return -1;
        buffer->data = data;
        buffer->capacity = capacity;
    }
    memcpy(buffer->data + buffer->length, text, length + 1);
    buffer->length += length;
    return 0;
}

void buffer_free(struct buffer *buffer)
{
    free(buffer->data);
    memset(buffer, 0, sizeof *buffer);
}

char *trimmed(const char *start, const char *end)
{
    char *copy;

    while (start < end && isspace((unsigned char)*start))
        start++;
    while (end > start && isspace((unsigned char)end[-1]))
        end--;
    copy = malloc((size_t)(end - start) + 1);
    if (!copy)
        return NULL;
    memcpy(copy, start, (size_t)(end - start));
    copy[end - start] = '\0';
    return copy;
}

int split_pair(const char *text, char separator, char **left, char **right)
{
    const char *at = strchr(text, separator);

    if (!at)
        return -1;
    *left = trimmed(text, at);
    *right = trimmed(at + 1, at + strlen(at));
    if (!*left || !*right) {
        free(*left);
        free(*right);
        return -1;
    }
    return 0;
}

int parse_number(const char *text, long *number)
{
    char *end;

    *number = strtol(text, &end, 10);
    return *text == '\0' || *end != '\0' ? -1 : 0;
}
