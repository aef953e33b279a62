/* The driver's runtime: runs one case over all its inputs and failing allocations, then asks
 * LeakSanitizer. Exit codes: 0 no leak, 42 leak, 43 the program called exit (the step is printed,
 * so that the caller goes on behind it). What a case returns stays reachable: it belongs to its
 * caller. */
#define _GNU_SOURCE
#include <sanitizer/lsan_interface.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_FAILURES 8
#define MAX_INPUTS 300

struct drive_case {
    void (*run)(long input);
    long inputs;
};

#ifdef __cplusplus
extern "C" {
#endif
static long fail_at, calls, step;

int inject_fails(void);
int inject_fails(void) { return ++calls == fail_at; }

static void check(void) {
    if (__lsan_do_recoverable_leak_check())
        _exit(42);
}

__attribute__((noreturn)) void inject_exit(int code);
void inject_exit(int code) {
    (void)code;
    check();
    fprintf(stderr, "\nSTEP %ld\n", step);
    _exit(43);
}

static void on_abort(int signal) { inject_exit(signal); }

static const void **kept;
static long kept_len, kept_cap;

static void drive_keep(const void *p) {
    if (kept_len == kept_cap) {
        kept_cap = kept_cap ? 2 * kept_cap : 64;
        kept = (const void **)realloc(kept, (size_t)kept_cap * sizeof *kept);
    }
    kept[kept_len++] = p;
}

static char *drive_copy(const char *s) {
    char *c = strdup(s);
    drive_keep(c);
    return c;
}

static FILE *drive_file(const char *content) {
    static FILE *last;
    FILE *f = tmpfile();
    fputs(content, f);
    rewind(f);
    if (last)
        fclose(last);
    return last = f;
}

/* Overwrites what the case left on the stack, so that no stale pointer keeps an object alive. */
__attribute__((noinline)) static void wipe(void) {
    volatile char stack[1 << 16];
    for (size_t i = 0; i < sizeof stack; i++)
        stack[i] = 0;
}

static void (*volatile wipe_stack)(void) = wipe;

static int drive(const struct drive_case *c, long start) {
    long stride = 1, at = 0;
    while (c->inputs / stride > MAX_INPUTS)
        stride += 2;
    signal(SIGABRT, on_abort);
    fclose(stdout);
    for (long input = 0; input < c->inputs; input += stride) {
        int more = 1;
        for (long f = 0; f <= MAX_FAILURES; f++, at++) {
            if (at < start || !more)
                continue;
            step = at;
            calls = 0;
            fail_at = f;
            c->run(input);
            wipe_stack();
            more = calls >= f;
        }
    }
    wipe_stack();
    check();
    _exit(0);
}
#ifdef __cplusplus
}
#endif
