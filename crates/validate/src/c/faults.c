/* Makes chosen calls of library functions fail.

   Linked with -Wl,--wrap=FUNCTION for each function below (the file `faults.link` lists them), so
   that the program's calls come here first. Which calls fail is told by the environment variable
   LEAKPROOF_FAULTS: "malloc:3,fopen:1" makes the third call of malloc and the first of fopen fail,
   counted from the start of main. Without it nothing fails. */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <locale.h>

#define NAMES(X) \
    X(malloc) X(calloc) X(realloc) X(reallocarray) X(strdup) X(strndup) X(asprintf) X(vasprintf) \
    X(getline) X(getdelim) X(posix_memalign) X(aligned_alloc) X(fopen) X(fdopen) X(freopen) \
    X(tmpfile) X(open) X(openat) X(creat) X(opendir) X(readdir) X(close) X(fclose) X(fflush) \
    X(read) X(write) X(pread) X(pwrite) X(fread) X(fwrite) X(fgets) X(fputs) X(fseek) X(lseek) \
    X(stat) X(lstat) X(fstat) X(access) X(mkdir) X(unlink) X(rename) X(readlink) X(realpath) \
    X(getcwd) X(chdir) X(pipe) X(dup) X(dup2) X(fork) X(mmap) X(socket) X(connect) X(bind) \
    X(listen) X(accept) X(send) X(recv) X(getaddrinfo) X(setsockopt) X(select) X(poll) \
    X(mkstemp) X(popen) X(pthread_create) X(pthread_mutex_init) X(setlocale) X(getpwnam) \
    X(getpwuid) X(waitpid) X(ftruncate) X(fsync) X(nanosleep)

#define NUMBER(name) F_##name,
enum { NAMES(NUMBER) F_COUNT };

/* The runtime of `leakproof validate`, when it is linked in, decides for itself. */
int lp_fault(int function) __attribute__((weak));
/* And is told of calls that failed because it lets nothing be written outside a folder, no network and no
   terminal be opened: where nobody does that, they are to fail by choice. */
void lp_refused(int function) __attribute__((weak));

/* And of names that the program looks for in vain: if there were such a file, it might go another way. */
void lp_missing(const char *path) __attribute__((weak));

#define TEXT(name) #name,
static const char *const names[] = { NAMES(TEXT) };
static unsigned counts[F_COUNT];

static int chosen(const char *list, const char *name, unsigned call)
{
    size_t length = strlen(name);
    for (const char *at = list; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : 0)
        if (!strncmp(at, name, length) && at[length] == ':'
            && strtoul(at + length + 1, 0, 10) == call)
            return 1;
    return 0;
}

static int fails(int function)
{
    if (lp_fault)
        return lp_fault(function);
    /* Not from the environment at each call: the program may change it. */
    static const char *list;
    static int known;
    if (!known) {
        known = 1;
        list = getenv("LEAKPROOF_FAULTS");
    }
    unsigned call = __sync_add_and_fetch(&counts[function], 1);
    return list && chosen(list, names[function], call);
}

#ifndef LEAKPROOF_RUNTIME
/* Calls before main are not counted: they are not the program's. */
int __real_main(int argc, char **argv, char **envp);
int __wrap_main(int argc, char **argv, char **envp)
{
    memset(counts, 0, sizeof counts);
    return __real_main(argc, argv, envp);
}
#endif

#define WRAP(type, name, parameters, arguments, error, result) \
    WRAP_AS(type, name, name, parameters, arguments, error, result)

#define WRAP_AS(type, name, number, parameters, arguments, error, result) \
    WRAP_THEN(type, name, number, parameters, arguments, error, result, (void)made)

/* `then` looks at what the function `made`. */
#define WRAP_THEN(type, name, number, parameters, arguments, error, result, then) \
    type __real_##name parameters; \
    type __wrap_##name parameters \
    { \
        if (fails(F_##number)) { \
            errno = error; \
            return result; \
        } \
        type made = __real_##name arguments; \
        then; \
        return made; \
    }

static void look_for_refusal(int function, int failed)
{
    /* A terminal is refused by saying that there is none. */
    if (lp_refused && failed && (errno == EACCES || errno == ENXIO))
        lp_refused(function);
}

static void look_for_missing(const char *path, int failed)
{
    if (lp_missing && failed && errno == ENOENT)
        lp_missing(path);
}

/* For functions that write outside. */
#define CREATE_AS(type, name, number, parameters, arguments, error, result) \
    WRAP_THEN(type, name, number, parameters, arguments, error, result, \
        look_for_refusal(F_##number, made == result))

#define CREATE(type, name, parameters, arguments, error, result) \
    CREATE_AS(type, name, name, parameters, arguments, error, result)

/* For functions that look for a file `p`. */
#define FIND_AS(type, name, number, parameters, arguments, error, result) \
    WRAP_THEN(type, name, number, parameters, arguments, error, result, \
        look_for_missing(p, made == result))

#define FIND(type, name, parameters, arguments, error, result) \
    FIND_AS(type, name, name, parameters, arguments, error, result)

/* For functions that do either. */
#define OPEN_AS(type, name, number, parameters, arguments, error, result) \
    WRAP_THEN(type, name, number, parameters, arguments, error, result, \
        (look_for_refusal(F_##number, made == result), look_for_missing(p, made == result)))

WRAP(void *, malloc, (size_t n), (n), ENOMEM, 0)
WRAP(void *, calloc, (size_t n, size_t m), (n, m), ENOMEM, 0)
WRAP(void *, realloc, (void *p, size_t n), (p, n), ENOMEM, 0)
WRAP(void *, reallocarray, (void *p, size_t n, size_t m), (p, n, m), ENOMEM, 0)
WRAP(char *, strdup, (const char *s), (s), ENOMEM, 0)
WRAP(char *, strndup, (const char *s, size_t n), (s, n), ENOMEM, 0)
WRAP(int, vasprintf, (char **p, const char *f, va_list a), (p, f, a), ENOMEM, -1)
WRAP(ssize_t, getline, (char **p, size_t *n, FILE *f), (p, n, f), EIO, -1)
WRAP(ssize_t, getdelim, (char **p, size_t *n, int d, FILE *f), (p, n, d, f), EIO, -1)
WRAP(int, posix_memalign, (void **p, size_t a, size_t n), (p, a, n), ENOMEM, ENOMEM)
/* Sanitizers end programs that ask for a size that is no multiple of the alignment; libraries do not mind. */
#define WHOLE(n, a) ((a) && (n) <= (size_t)-1 - (a) ? ((n) + (a) - 1) / (a) * (a) : (n))
WRAP(void *, aligned_alloc, (size_t a, size_t n), (a, WHOLE(n, a)), ENOMEM, 0)
OPEN_AS(FILE *, fopen, fopen, (const char *p, const char *m), (p, m), ENOENT, 0)
OPEN_AS(FILE *, fopen64, fopen, (const char *p, const char *m), (p, m), ENOENT, 0)
WRAP(FILE *, fdopen, (int f, const char *m), (f, m), ENOMEM, 0)
OPEN_AS(FILE *, freopen, freopen, (const char *p, const char *m, FILE *f), (p, m, f), ENOENT, 0)
OPEN_AS(FILE *, freopen64, freopen, (const char *p, const char *m, FILE *f), (p, m, f), ENOENT, 0)
CREATE(int, creat, (const char *p, mode_t m), (p, m), EACCES, -1)
FIND(DIR *, opendir, (const char *p), (p), ENOENT, 0)
WRAP(struct dirent *, readdir, (DIR *d), (d), EIO, 0)
WRAP_AS(struct dirent64 *, readdir64, readdir, (DIR *d), (d), EIO, 0)
WRAP(int, close, (int f), (f), EIO, -1)
WRAP(int, fclose, (FILE *f), (f), EIO, EOF)
WRAP(int, fflush, (FILE *f), (f), EIO, EOF)
WRAP(ssize_t, read, (int f, void *b, size_t n), (f, b, n), EIO, -1)
WRAP(ssize_t, write, (int f, const void *b, size_t n), (f, b, n), EIO, -1)
WRAP(ssize_t, pread, (int f, void *b, size_t n, off_t o), (f, b, n, o), EIO, -1)
WRAP(ssize_t, pwrite, (int f, const void *b, size_t n, off_t o), (f, b, n, o), EIO, -1)
WRAP(size_t, fread, (void *b, size_t s, size_t n, FILE *f), (b, s, n, f), EIO, 0)
WRAP(size_t, fwrite, (const void *b, size_t s, size_t n, FILE *f), (b, s, n, f), EIO, 0)
WRAP(char *, fgets, (char *b, int n, FILE *f), (b, n, f), EIO, 0)
WRAP(int, fputs, (const char *b, FILE *f), (b, f), EIO, EOF)
WRAP(int, fseek, (FILE *f, long o, int w), (f, o, w), EIO, -1)
WRAP(off_t, lseek, (int f, off_t o, int w), (f, o, w), ESPIPE, -1)
WRAP_AS(off64_t, lseek64, lseek, (int f, off64_t o, int w), (f, o, w), ESPIPE, -1)
FIND(int, stat, (const char *p, struct stat *s), (p, s), ENOENT, -1)
FIND_AS(int, stat64, stat, (const char *p, struct stat64 *s), (p, s), ENOENT, -1)
FIND(int, lstat, (const char *p, struct stat *s), (p, s), ENOENT, -1)
FIND_AS(int, lstat64, lstat, (const char *p, struct stat64 *s), (p, s), ENOENT, -1)
WRAP(int, fstat, (int f, struct stat *s), (f, s), EIO, -1)
WRAP_AS(int, fstat64, fstat, (int f, struct stat64 *s), (f, s), EIO, -1)
FIND(int, access, (const char *p, int m), (p, m), EACCES, -1)
CREATE(int, mkdir, (const char *p, mode_t m), (p, m), EACCES, -1)
CREATE(int, unlink, (const char *p), (p), EACCES, -1)
CREATE(int, rename, (const char *p, const char *q), (p, q), EACCES, -1)
WRAP(ssize_t, readlink, (const char *p, char *b, size_t n), (p, b, n), EINVAL, -1)
WRAP(char *, realpath, (const char *p, char *b), (p, b), ENOENT, 0)
WRAP(char *, getcwd, (char *b, size_t n), (b, n), ENOENT, 0)
WRAP(int, chdir, (const char *p), (p), ENOENT, -1)
WRAP(int, pipe, (int *f), (f), EMFILE, -1)
WRAP(int, dup, (int f), (f), EMFILE, -1)
WRAP(int, dup2, (int f, int g), (f, g), EMFILE, -1)
WRAP(pid_t, fork, (void), (), EAGAIN, -1)
WRAP(void *, mmap, (void *p, size_t n, int r, int g, int f, off_t o), (p, n, r, g, f, o), ENOMEM, MAP_FAILED)
CREATE(int, socket, (int d, int t, int p), (d, t, p), EMFILE, -1)
WRAP(int, connect, (int f, const struct sockaddr *a, socklen_t n), (f, a, n), ECONNREFUSED, -1)
WRAP(int, bind, (int f, const struct sockaddr *a, socklen_t n), (f, a, n), EADDRINUSE, -1)
WRAP(int, listen, (int f, int n), (f, n), EADDRINUSE, -1)
WRAP(int, accept, (int f, struct sockaddr *a, socklen_t *n), (f, a, n), EMFILE, -1)
WRAP(ssize_t, send, (int f, const void *b, size_t n, int g), (f, b, n, g), ECONNRESET, -1)
WRAP(ssize_t, recv, (int f, void *b, size_t n, int g), (f, b, n, g), ECONNRESET, -1)
WRAP(int, getaddrinfo, (const char *n, const char *s, const struct addrinfo *h, struct addrinfo **r), (n, s, h, r), EAGAIN, EAI_AGAIN)
WRAP(int, setsockopt, (int f, int l, int o, const void *v, socklen_t n), (f, l, o, v, n), EINVAL, -1)
WRAP(int, select, (int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *t), (n, r, w, e, t), EINTR, -1)
WRAP(int, poll, (struct pollfd *f, nfds_t n, int t), (f, n, t), EINTR, -1)
CREATE(int, mkstemp, (char *p), (p), EACCES, -1)
CREATE_AS(int, mkstemp64, mkstemp, (char *p), (p), EACCES, -1)
WRAP(FILE *, popen, (const char *c, const char *m), (c, m), ENOMEM, 0)
WRAP(int, pthread_create, (pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *p), (t, a, f, p), EAGAIN, EAGAIN)
WRAP(int, pthread_mutex_init, (pthread_mutex_t *m, const pthread_mutexattr_t *a), (m, a), ENOMEM, ENOMEM)
WRAP(char *, setlocale, (int c, const char *l), (c, l), ENOENT, 0)
WRAP(struct passwd *, getpwnam, (const char *n), (n), ENOENT, 0)
WRAP(struct passwd *, getpwuid, (uid_t u), (u), ENOENT, 0)
WRAP(pid_t, waitpid, (pid_t p, int *s, int o), (p, s, o), ECHILD, -1)
WRAP(int, ftruncate, (int f, off_t n), (f, n), EIO, -1)
WRAP(int, fsync, (int f), (f), EIO, -1)
WRAP(int, nanosleep, (const struct timespec *a, struct timespec *b), (a, b), EINTR, -1)

FILE *__real_tmpfile(void);
FILE *__wrap_tmpfile(void)
{
    if (fails(F_tmpfile)) {
        errno = EACCES;
        return 0;
    }
#ifdef LEAKPROOF_RUNTIME
    /* The usual folder is out of reach; a file without a name may as well be in memory. */
    int file = memfd_create("tmpfile", 0);
    return file < 0 ? 0 : __real_fdopen(file, "w+");
#else
    return __real_tmpfile();
#endif
}

FILE *__wrap_tmpfile64(void)
{
    return __wrap_tmpfile();
}

int __wrap_asprintf(char **out, const char *format, ...)
{
    if (fails(F_asprintf)) {
        errno = ENOMEM;
        return -1;
    }
    va_list arguments;
    va_start(arguments, format);
    int n = __real_vasprintf(out, format, arguments);
    va_end(arguments);
    return n;
}

#define OPEN(name) \
    int __real_##name(const char *path, int flags, ...); \
    int __wrap_##name(const char *path, int flags, ...) \
    { \
        va_list arguments; \
        va_start(arguments, flags); \
        mode_t mode = va_arg(arguments, mode_t); \
        va_end(arguments); \
        if (fails(F_open)) { \
            errno = ENOENT; \
            return -1; \
        } \
        int file = __real_##name(path, flags, mode); \
        look_for_refusal(F_open, file < 0); \
        look_for_missing(path, file < 0); \
        return file; \
    }

OPEN(open)
OPEN(open64)

#define OPENAT(name) \
    int __real_##name(int folder, const char *path, int flags, ...); \
    int __wrap_##name(int folder, const char *path, int flags, ...) \
    { \
        va_list arguments; \
        va_start(arguments, flags); \
        mode_t mode = va_arg(arguments, mode_t); \
        va_end(arguments); \
        if (fails(F_openat)) { \
            errno = ENOENT; \
            return -1; \
        } \
        int file = __real_##name(folder, path, flags, mode); \
        look_for_refusal(F_openat, file < 0); \
        look_for_missing(path, file < 0 && folder == AT_FDCWD); \
        return file; \
    }

OPENAT(openat)
OPENAT(openat64)
