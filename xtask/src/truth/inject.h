/* Force-included into fixtures: allocations that fail on demand, and an exit that reports first.
 * `inject_fail_at` counts calls from 1; 0 means that none fails. */
#ifndef INJECT_H
#define INJECT_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif
int inject_fails(void);
__attribute__((noreturn)) void inject_exit(int code);

static inline void *inject_malloc(size_t n) { return inject_fails() ? NULL : malloc(n); }
static inline void *inject_calloc(size_t n, size_t m) { return inject_fails() ? NULL : calloc(n, m); }
static inline void *inject_realloc(void *p, size_t n) {
    return n && inject_fails() ? NULL : realloc(p, n);
}
static inline char *inject_strdup(const char *s) { return inject_fails() ? NULL : strdup(s); }
static inline char *inject_strndup(const char *s, size_t n) {
    return inject_fails() ? NULL : strndup(s, n);
}
static inline FILE *inject_fopen(const char *p, const char *m) {
    return inject_fails() ? NULL : fopen(p, m);
}
static inline int inject_vasprintf(char **out, const char *f, va_list ap) {
    return inject_fails() ? -1 : vasprintf(out, f, ap);
}
static inline int inject_asprintf(char **out, const char *f, ...) {
    va_list ap;
    va_start(ap, f);
    int r = inject_vasprintf(out, f, ap);
    va_end(ap);
    return r;
}
static inline int inject_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *),
                                        void *x) {
    return inject_fails() ? 11 : pthread_create(t, a, f, x);
}
#ifdef __cplusplus
}
#else
#undef strdup
#undef strndup
#define malloc inject_malloc
#define calloc inject_calloc
#define realloc inject_realloc
#define strdup inject_strdup
#define strndup inject_strndup
#define fopen inject_fopen
#define asprintf inject_asprintf
#define vasprintf inject_vasprintf
#define pthread_create inject_pthread_create
#endif
#define exit inject_exit
#endif
