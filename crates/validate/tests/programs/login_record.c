// verdict: MUST-LEAK
// The C library reads the records of the file.
#include <stdlib.h>
#include <string.h>
#include <utmpx.h>

int utmpxname(const char *file);

int main(int argc, char **argv)
{
    struct utmpx *record;
    if (argc < 2)
        return 1;
    utmpxname(argv[1]);
    setutxent();
    while ((record = getutxent())) {
        if (record->ut_type != USER_PROCESS)
            continue;
        char *user = strndup(record->ut_user, sizeof record->ut_user); // @alloc
        if (user && user[0] == 'Q')
            continue; // @leak
        free(user);
    }
    endutxent();
    return 0;
}
