/* The stock: items in a list, and a queue of orders against it. */
#ifndef STOCK_H
#define STOCK_H

#include <stddef.h>

struct item {
    char *name;
    char *note; /* may be NULL */
    long quantity;
    struct item *next;
};

struct stock {
    struct item *items;
    size_t count;
};

struct order {
    char *item;
    long quantity;
    struct order *next;
};

struct order_queue {
    struct order *head;
    struct order **tail;
};

struct item *item_new(const char *name, long quantity, const char *note);
void item_free(struct item *item);

void stock_add(struct stock *stock, struct item *item);
struct item *stock_find(const struct stock *stock, const char *name);
/* Reads `name : quantity : note` lines. Returns the number of items, or -1. */
int stock_import(struct stock *stock, const char *path);
void stock_free(struct stock *stock);

void queue_init(struct order_queue *queue);
int queue_push(struct order_queue *queue, const char *item, long quantity);
/* Takes the first order out; the caller releases it with order_free(). */
struct order *queue_pop(struct order_queue *queue);
void order_free(struct order *order);

#endif
