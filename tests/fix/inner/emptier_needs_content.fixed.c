// The function that empties the struct looks at what may not be there: what it holds goes by itself.
// run: 
// run: 1
// run: 1 2
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

static void text_copy(struct text *t, const char *p)
{
    t->length = strlen(p);
    t->s = strdup(p);
}

static void text_clear(struct text *t)
{
    t->s[0] = '\0';
    free(t->s);
}

static struct page *page_new(int number, int refuse)
{
    struct page *page = calloc(1, sizeof *page);

    if (page == NULL)
        return NULL;
    page->number = number;
    if (number > 1)
        text_copy(&page->title, "untitled");
    if (refuse) {
        free(page->title.s);
        free(page);
        return NULL;
    }
    return page;
}

int main(int argc, char **argv)
{
    struct page *page = page_new(argc, argc > 2);

    (void)argv;
    if (page == NULL)
        return 1;
    printf("%d\n", page->number);
    if (page->title.s != NULL)
        text_clear(&page->title);
    free(page);
    return 0;
}
