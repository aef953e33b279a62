/* getopt, getopt_long and getopt_long_only, so that options can be followed through their own code.

   Behaves as the C library's: options and operands may be mixed unless POSIXLY_CORRECT is set or the
   option string starts with '+'; long options may be shortened when that is unambiguous. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *optarg;
int optind = 1, opterr = 1, optopt = '?';

static char *next;          /* rest of a group of short options */
static int first, last;     /* operands that were skipped: [first, last) */

/* Moves the options in [last, optind) before the operands in [first, last). */
static void exchange(char **argv)
{
    int options = optind - last;
    for (int i = 0; i < options; i++) {
        char *moved = argv[last + i];
        for (int j = last + i; j > first + i; j--)
            argv[j] = argv[j - 1];
        argv[first + i] = moved;
    }
    first += options;
    last = optind;
}

static int complain(char *const *argv, const char *message, const char *name, int length, int quiet)
{
    if (opterr && !quiet)
        fprintf(stderr, "%s: %s -- '%.*s'\n", argv[0], message, length, name);
    return '?';
}

static int long_option(int argc, char *const *argv, const char *text, int quiet,
                       const struct option *options, int *index)
{
    size_t length = 0;
    while (text[length] && text[length] != '=')
        length++;
    const struct option *found = 0;
    int matches = 0, at = 0;
    for (int i = 0; options[i].name; i++) {
        if (strncmp(options[i].name, text, length))
            continue;
        if (strlen(options[i].name) == length) {
            found = &options[i];
            at = i;
            matches = 1;
            break;
        }
        if (!found || found->has_arg != options[i].has_arg || found->flag != options[i].flag
            || found->val != options[i].val)
            matches++;
        if (!found) {
            found = &options[i];
            at = i;
        }
    }
    optind++;
    optopt = 0;
    if (!found)
        return complain(argv, "unrecognized option", text, (int)length, quiet);
    if (matches > 1)
        return complain(argv, "option is ambiguous", text, (int)length, quiet);
    optopt = found->val;
    if (text[length] == '=') {
        if (found->has_arg == no_argument)
            return complain(argv, "option doesn't allow an argument", text, (int)length, quiet);
        optarg = (char *)text + length + 1;
    } else if (found->has_arg == required_argument) {
        if (optind >= argc) {
            complain(argv, "option requires an argument", text, (int)length, quiet);
            return quiet ? ':' : '?';
        }
        optarg = argv[optind++];
    }
    if (index)
        *index = at;
    if (found->flag) {
        *found->flag = found->val;
        return 0;
    }
    return found->val;
}

static int short_option(int argc, char *const *argv, const char *allowed, int quiet)
{
    char c = *next++;
    const char *found = c == ':' || c == ';' ? 0 : strchr(allowed, c);
    int ends = !*next;
    if (ends)
        optind++;
    if (!found) {
        optopt = c;
        return complain(argv, "invalid option", &c, 1, quiet);
    }
    if (found[1] != ':')
        return c;
    if (!ends) {
        optarg = next;
        optind++;
    } else if (found[2] != ':') {
        if (optind >= argc) {
            optopt = c;
            complain(argv, "option requires an argument", &c, 1, quiet);
            next = 0;
            return quiet ? ':' : '?';
        }
        optarg = argv[optind++];
    }
    next = 0;
    return c;
}

static int run(int argc, char *const *arguments, const char *allowed, const struct option *options,
               int *index, int only)
{
    char **argv = (char **)arguments;
    int in_order = *allowed == '+' || (*allowed != '-' && getenv("POSIXLY_CORRECT"));
    int returns_operands = *allowed == '-';
    if (*allowed == '+' || *allowed == '-')
        allowed++;
    int quiet = *allowed == ':';
    if (quiet)
        allowed++;
    optarg = 0;
    if (optind == 0) {
        optind = 1;
        next = 0;
    }
    if (optind == 1 && !next)
        first = last = 1;
    if (!next || !*next) {
        if (first != last && last != optind)
            exchange(argv);
        else if (last != optind)
            first = optind;
        if (!in_order && !returns_operands)
            while (optind < argc && (argv[optind][0] != '-' || !argv[optind][1]))
                optind++;
        last = optind;
        if (optind < argc && !strcmp(argv[optind], "--")) {
            optind++;
            if (first != last && last != optind)
                exchange(argv);
            else if (first == last)
                first = optind;
            last = argc;
            optind = argc;
        }
        if (optind >= argc) {
            if (first != last)
                optind = first;
            return -1;
        }
        if (argv[optind][0] != '-' || !argv[optind][1]) {
            if (!returns_operands)
                return -1;
            optarg = argv[optind++];
            return 1;
        }
        if (options && argv[optind][1] == '-')
            return long_option(argc, argv, argv[optind] + 2, quiet, options, index);
        if (options && only && (argv[optind][2] || !strchr(allowed, argv[optind][1])))
            return long_option(argc, argv, argv[optind] + 1, quiet, options, index);
        next = argv[optind] + 1;
    }
    return short_option(argc, argv, allowed, quiet);
}

int getopt(int argc, char *const *argv, const char *allowed)
{
    return run(argc, argv, allowed, 0, 0, 0);
}

int getopt_long(int argc, char *const *argv, const char *allowed, const struct option *options,
                int *index)
{
    return run(argc, argv, allowed, options, index, 0);
}

int getopt_long_only(int argc, char *const *argv, const char *allowed,
                     const struct option *options, int *index)
{
    return run(argc, argv, allowed, options, index, 1);
}
