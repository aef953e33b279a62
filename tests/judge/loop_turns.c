// Releases in loops that may take no turn, or another one.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void drop_all(char **list, int n) {
    for (int i = 0; i < n; i++)
        free(list[i]);
}

static int some_turns(const char *s, int n) {
    char *copy = strdup(s);
    if (copy == NULL)
        return -1;
    for (int i = 0; i < n; i++) {
        if (s[i] == 'x') {
            free(copy);
            copy = NULL;
            break;
        }
    }
    puts("done");
    free(copy); // safe
    return 0;
}

static int released_in_a_turn(const char *s, int n) {
    char *copy = strdup(s);
    if (copy == NULL)
        return -1;
    for (int i = 0; i < n; i++) {
        if (s[i] == 'x') {
            free(copy);
            break;
        }
    }
    free(copy); // unsafe: a turn may have released it
    return 0;
}

static int released_by_a_list(const char *s, int n) {
    char *one[1] = {strdup(s)};
    char *copy = one[0];
    if (copy == NULL)
        return -1;
    drop_all(one, n);
    free(copy); // unsafe: the loop releases it when there is a turn
    return 0;
}

static int in_every_turn(const char *s, int n) {
    char *copy = strdup(s);
    if (copy == NULL)
        return -1;
    for (int i = 0; i < n; i++) {
        puts(s);
        free(copy); // unsafe: the next turn does it again
    }
    return 0;
}

static int later_turn(int n, char **words) {
    char *last = NULL;
    for (int i = 0; i < n; i++) {
        if (last != NULL) {
            puts(last);
            free(last);
        }
        last = strdup(words[i]);
        if (last == NULL)
            break;
        if (i == 3)
            free(last); // unsafe: the next turn uses and releases it
    }
    free(last);
    return 0;
}

static int third_turn(int n, char **words) {
    char *first = NULL;
    for (int i = 0; i < n; i++) {
        if (first != NULL)
            puts(first);
        else
            first = strdup(words[i]);
        if (first == NULL)
            return -1;
        if (i == 3)
            free(first); // unsafe: the next turn uses it
    }
    return 0;
}

static int end_of_turn(int n, char **words) {
    for (int i = 0; i < n; i++) {
        char *copy = strdup(words[i]);
        if (copy == NULL)
            return -1;
        puts(copy);
        free(copy); // safe
    }
    return 0;
}

static int kept_one(int n, char **words) {
    char *longest = NULL;
    size_t most = 0;
    for (int i = 0; i < n; i++) {
        char *copy = strdup(words[i]);
        if (copy == NULL)
            break;
        if (strlen(copy) > most) {
            most = strlen(copy);
            longest = copy;
        }
        free(copy); // unsafe: the longest is printed at the end
    }
    if (longest != NULL)
        puts(longest);
    return 0;
}

int main(int argc, char **argv) {
    const char *s = argv[0];
    return some_turns(s, argc) + released_in_a_turn(s, argc) + released_by_a_list(s, argc) + in_every_turn(s, argc) +
           later_turn(argc, argv) + third_turn(argc, argv) + end_of_turn(argc, argv) + kept_one(argc, argv);
}
