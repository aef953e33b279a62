// left alone: what is returned points into the object
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *base_name(const char *path) {
    char *copy = strdup(path);
    if (!copy)
        return "";
    char *slash = strrchr(copy, '/');
    return slash ? slash + 1 : copy;
}

int main(int argc, char **argv) {
    puts(base_name(argc > 1 ? argv[1] : "a/b"));
    return 0;
}
