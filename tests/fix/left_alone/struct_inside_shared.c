// left alone: what the struct inside the owner holds is also kept elsewhere
// run: 
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text {
    char *s;
};

struct page {
    int number;
    struct text title;
};

static char *last;

static void text_copy(struct text *t, const char *p)
{
    t->s = strdup(p);
    if (t->s == NULL)
        abort();
    last = t->s;
}

static void text_clear(struct text *t)
{
    free(t->s);
    t->s = NULL;
}

static struct page *page_new(int number, int refuse)
{
    struct page *page = calloc(1, sizeof *page);

    if (page == NULL)
        return NULL;
    page->number = number;
    text_copy(&page->title, "untitled");
    if (refuse) {
        free(page);
        return NULL;
    }
    return page;
}

int main(int argc, char **argv)
{
    struct page *page = page_new(1, argc > 1);

    (void)argv;
    if (page != NULL)
        text_clear(&page->title);
    free(page);
    puts(argc > 1 ? last : "");
    return 0;
}
