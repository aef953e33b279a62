// run:
// run: x
#include <stdio.h>
#include <stdlib.h>

struct item {
    int weight;
};

static int item_make(int *status, struct item **it) {
    *it = malloc(sizeof **it);
    *status = *it == NULL ? 1 : 7;
    return *it == NULL ? -1 : 0;
}

static void item_drop(int *status, struct item **it) {
    free(*it);
    *it = NULL;
    *status = 0;
}

static int other(void) {
    struct item *it;
    int status;
    if (item_make(&status, &it) != 0)
        return -1;
    item_drop(&status, &it);
    return status;
}

static int work(int n) {
    struct item *it;
    int minor;
    if (item_make(&minor, &it) != 0)
        return -1;
    if (n > 1) {
        int result = minor;
        item_drop(&minor, &it);
        return result;
    }
    item_drop(&minor, &it);
    return n;
}

int main(int argc, char **argv) {
    (void)argv;
    printf("%d %d\n", work(argc), other());
    return 0;
}
