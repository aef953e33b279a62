// left alone: the caller still has what was stored for it
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct option {
    const char *name;
    const char *value;
};

static int device_of(const struct option *options, int n, char **device) {
    for (int i = 0; i < n; i++) {
        if (strcmp(options[i].name, "device") == 0) {
            if ((*device = strdup(options[i].value)) == NULL)
                return -1;
        } else if (options[i].name[0] == '!')
            return -2;
    }
    return 0;
}

int main(int argc, char **argv) {
    struct option options[] = {{"speed", "9600"}, {"device", argc > 1 ? argv[1] : "tty"}};
    char *device = NULL;
    int r = device_of(options, 2, &device);
    printf("%d %s\n", r, device ? device : "none");
    free(device);
    return 0;
}
