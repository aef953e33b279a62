#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stock.h"
#include "text.h"

struct item *item_new(const char *name, long quantity, const char *note)
{
    struct item *item = calloc(1, sizeof *item);

    if (!item)
        return NULL;
    item->name = strdup(name);
    if (note)
        item->note = strdup(note);
    if (!item->name || (note && !item->note)) {
        free(item->name);
        free(item->note);
        free(item);
        return NULL;
    }
    item->quantity = quantity;
    return item;
}

/* Forgets the note. */
void item_free(struct item *item)
{
    if (!item)
        return;
    free(item->name);
    free(item);
}

void stock_add(struct stock *stock, struct item *item)
{
    item->next = stock->items;
    stock->items = item;
    stock->count++;
}

struct item *stock_find(const struct stock *stock, const char *name)
{
    for (struct item *item = stock->items; item; item = item->next)
        if (strcmp(item->name, name) == 0)
            return item;
    return NULL;
}

/* One line of the stock file. Gives the item, or NULL with *error set when the line is bad. */
static struct item *parse_item(const char *line, int *error)
{
    char *name = NULL;
    char *rest = NULL;
    char *number = NULL;
    char *note = NULL;
    struct item *item = NULL;
    long quantity;

    *error = split_pair(line, ':', &name, &rest);
    if (*error)
        return NULL;
    if (split_pair(rest, ':', &number, &note) != 0)
        number = strdup(rest);
    if (!number || parse_number(number, &quantity) != 0)
        *error = -1;
    else
        item = item_new(name, quantity, note);
    free(name);
    free(rest);
    free(number);
    free(note);
    return item;
}

/* Items that are in the stock already are counted up, but the new one is left behind by
 * `continue`. */
int stock_import(struct stock *stock, const char *path)
{
    char *line = NULL;
    size_t size = 0;
    int error = 0;
    int count = 0;
    FILE *file = fopen(path, "r");

    if (!file)
        return -1;
    while (!error && getline(&line, &size, file) >= 0) {
        struct item *item;
        struct item *known;

        line[strcspn(line, "\n")] = '\0';
        if (*line == '\0')
            continue;
        item = parse_item(line, &error);
        if (!item)
            continue;
        known = stock_find(stock, item->name);
        if (known) {
            known->quantity += item->quantity;
            continue;
        }
        stock_add(stock, item);
        count++;
    }
    free(line);
    fclose(file);
    return error ? -1 : count;
}

void stock_free(struct stock *stock)
{
    struct item *item = stock->items;

    while (item) {
        struct item *next = item->next;
        item_free(item);
        item = next;
    }
    stock->items = NULL;
    stock->count = 0;
}

void queue_init(struct order_queue *queue)
{
    queue->head = NULL;
    queue->tail = &queue->head;
}

/* When the name cannot be copied, the order itself stays behind. */
int queue_push(struct order_queue *queue, const char *item, long quantity)
{
    struct order *order = malloc(sizeof *order);

    if (!order)
        return -1;
    order->item = strdup(item);
    if (!order->item)
        return -1;
    order->quantity = quantity;
    order->next = NULL;
    *queue->tail = order;
    queue->tail = &order->next;
    return 0;
}

struct order *queue_pop(struct order_queue *queue)
{
    struct order *order = queue->head;

    if (!order)
        return NULL;
    queue->head = order->next;
    if (!queue->head)
        queue->tail = &queue->head;
    order->next = NULL;
    return order;
}

void order_free(struct order *order)
{
    if (order)
        free(order->item);
    free(order);
}
