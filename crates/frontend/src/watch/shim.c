/* Preloaded into every process of a watched build. A process whose name is that of a compiler
 * driver, linker or archiver appends one record to the file named in LEAKPROOF_RECORD before its
 * main() runs:
 *
 *     number of strings, as 4 bytes; then that many of: length, as 4 bytes; bytes
 *
 * with the strings: working directory, argv[0], argv[1], ... It then marks the environment so
 * that what it starts itself (cc1, collect2, ld, the compiler behind ccache) is not recorded
 * again. One write() in append mode per record keeps records of parallel jobs apart. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const names[] = {"cc",     "gcc",   "clang",  "c89",    "c99",     "tcc",
                                    "icc",    "icx",   "pcc",    "c++",    "g++",     "clang++",
                                    "icpc",   "icpx",  "CC",     "ar",     "gcc-ar",  "llvm-ar",
                                    "ld",     "ld.bfd", "ld.gold", "ld.lld", "lld",   "ld.mold",
                                    "mold",   "ccache", "sccache", "distcc", "icecc"};

/* Whether name is one of the above, after a target prefix and before a version: gcc-12,
 * x86_64-linux-gnu-g++. */
static int is_tool(const char *name)
{
    size_t length = strlen(name);
    if (strncmp(name, "cc1", 3) == 0)
        return 0;
    while (length > 0 && strchr("0123456789.", name[length - 1]))
        length--;
    if (length > 0 && length < strlen(name) && name[length - 1] == '-')
        length--;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);
        if (strcmp(name, names[i]) == 0)
            return 1;
        if (length >= n && memcmp(name + length - n, names[i], n) == 0 &&
            (length == n || name[length - n - 1] == '-'))
            return 1;
    }
    return 0;
}

static char *put(char *at, const char *bytes, uint32_t length)
{
    memcpy(at, &length, sizeof length);
    memcpy(at + sizeof length, bytes, length);
    return at + sizeof length + length;
}

static void append(const char *file, const char *cwd, int argc, char **argv)
{
    uint32_t count = (uint32_t)argc + 1;
    size_t size = sizeof count + sizeof(uint32_t) + strlen(cwd);
    for (int i = 0; i < argc; i++)
        size += sizeof(uint32_t) + strlen(argv[i]);
    char *record = malloc(size);
    if (!record)
        return;
    memcpy(record, &count, sizeof count);
    char *at = put(record + sizeof count, cwd, (uint32_t)strlen(cwd));
    for (int i = 0; i < argc; i++)
        at = put(at, argv[i], (uint32_t)strlen(argv[i]));
    int fd = open(file, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd >= 0) {
        if (write(fd, record, size) < 0) {
            /* The build must not suffer from being watched. */
        }
        close(fd);
    }
    free(record);
}

__attribute__((constructor)) static void leakproof_record(int argc, char **argv)
{
    const char *file = getenv("LEAKPROOF_RECORD");
    if (!file || argc < 1 || getenv("LEAKPROOF_RECORDED"))
        return;
    const char *slash = strrchr(argv[0], '/');
    if (!is_tool(slash ? slash + 1 : argv[0]))
        return;
    char *cwd = getcwd(NULL, 0);
    if (!cwd)
        return;
    append(file, cwd, argc, argv);
    free(cwd);
    setenv("LEAKPROOF_RECORDED", "1", 1);
}
