/* inventory: reads settings and a stock file, carries out orders, prints what is left.
 *
 *     inventory CONFIG STOCK [ITEM=QUANTITY]...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "stock.h"
#include "text.h"

/* The title of the report. When the settings have one, the default is overwritten and lost. */
static char *report_name(const struct config *config)
{
    char *name = strdup("Inventory");

    if (config->title)
        name = strdup(config->title);
    return name;
}

static int parse_order(const char *argument, struct order_queue *queue)
{
    char *item;
    char *number;
    long quantity;
    int result = -1;

    if (split_pair(argument, '=', &item, &number) != 0)
        return -1;
    if (parse_number(number, &quantity) == 0 && quantity > 0)
        result = queue_push(queue, item, quantity);
    free(item);
    free(number);
    return result;
}

/* Takes every order from the queue. An order for an unknown item ends the work early, and that
 * order is never released. */
static int carry_out(struct stock *stock, struct order_queue *queue)
{
    struct order *order;

    while ((order = queue_pop(queue)) != NULL) {
        struct item *item = stock_find(stock, order->item);
        if (!item) {
            fprintf(stderr, "no such item: %s\n", order->item);
            return -1;
        }
        if (order->quantity > item->quantity)
            fprintf(stderr, "only %ld of %s left\n", item->quantity, item->name);
        else
            item->quantity -= order->quantity;
        order_free(order);
    }
    return 0;
}

static int is_watched(const struct config *config, const char *name)
{
    for (size_t i = 0; i < config->watched_count; i++)
        if (strcmp(config->watched[i], name) == 0)
            return 1;
    return 0;
}

static int append_item(struct buffer *out, const struct config *config, const struct item *item)
{
    char line[256];
    int low = item->quantity < config->warn_below && is_watched(config, item->name);

    snprintf(line, sizeof line, "%-20s %6ld%s\n", item->name, item->quantity, low ? " low!" : "");
    return buffer_append(out, line);
}

static int print_report(const struct config *config, const struct stock *stock)
{
    struct buffer out = {0};
    char *name = report_name(config);

    if (!name)
        return -1;
    if (buffer_append(&out, name) != 0 || buffer_append(&out, "\n") != 0)
        goto fail;
    for (const struct item *item = stock->items; item; item = item->next)
        if (append_item(&out, config, item) != 0)
            goto fail;
    fputs(out.data, stdout);
    buffer_free(&out);
    free(name);
    return 0;

fail:
    buffer_free(&out);
    free(name);
    return -1;
}

int main(int argc, char **argv)
{
    struct config config;
    struct stock stock = {0};
    struct order_queue queue;
    struct order *order;
    int result = -1;

    if (argc < 3) {
        fprintf(stderr, "usage: %s CONFIG STOCK [ITEM=QUANTITY]...\n", argv[0]);
        return 2;
    }
    queue_init(&queue);
    if (config_load(argv[1], &config) != 0 || stock_import(&stock, argv[2]) < 0)
        goto done;
    for (int i = 3; i < argc; i++)
        if (parse_order(argv[i], &queue) != 0)
            goto done;
    if (carry_out(&stock, &queue) == 0)
        result = print_report(&config, &stock);

done:
    while ((order = queue_pop(&queue)) != NULL)
        order_free(order);
    stock_free(&stock);
    config_free(&config);
    return result == 0 ? 0 : 1;
}
