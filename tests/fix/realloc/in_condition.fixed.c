// run: hello
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    char *text = NULL;
    size_t len = 0;
    for (int i = 1; i < argc; i++) {
        size_t n = strlen(argv[i]);
        char *resized = realloc(text, len + n + 1);
        if (resized == NULL && (len + n + 1) != 0)
            free(text);
        if ((text = resized) == NULL) {
            puts("no memory");
            return 1;
        }
        memcpy(text + len, argv[i], n + 1);
        len += n;
    }
    if (text)
        puts(text);
    free(text);
    return 0;
}
