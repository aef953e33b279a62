/* Settings of the inventory tool, read from a file of `key = value` lines. */
#ifndef CONFIG_H
#define CONFIG_H

struct config {
    char *title;
    char *currency;
    char **watched; /* names of items to warn about */
    size_t watched_count;
    long warn_below;
};

/* Reads `path`. Returns 0, or -1 when the file is missing or malformed. */
int config_load(const char *path, struct config *config);
void config_free(struct config *config);

#endif
