// What a struct inside the owner holds goes before the owner, by the function for that struct.
// run: 
// run: 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text {
    char *s;
    size_t length;
};

struct page {
    int number;
    struct text title;
};

#define text_copy(t, p) text_ncopy((t), (p), strlen(p))

static struct text *text_ncopy(struct text *t, const char *p, size_t n)
{
    t->s = malloc(n + 1);
    if (t->s == NULL)
        abort();
    memcpy(t->s, p, n);
    t->s[n] = '\0';
    t->length = n;
    return t;
}

static void text_clear(struct text *t)
{
    free(t->s);
    t->s = NULL;
    t->length = 0;
}

static struct page *page_new(int number, int refuse)
{
    struct page *page = calloc(1, sizeof *page);

    if (page == NULL)
        return NULL;
    page->number = number;
    text_copy(&(page->title), "untitled");
    if (refuse) {
        text_clear(&page->title);
        free(page);
        return NULL;
    }
    return page;
}

int main(int argc, char **argv)
{
    struct page *page = page_new(1, argc > 1);

    (void)argv;
    if (page == NULL) {
        puts("none");
        return 0;
    }
    printf("%d %s\n", page->number, page->title.s);
    text_clear(&page->title);
    free(page);
    return 0;
}
