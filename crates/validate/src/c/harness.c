
/* Our own declarations: which headers the unit includes is not known. */
int getchar(void);
void *memalign(unsigned long, unsigned long);
extern struct _IO_FILE *stdin;

/* Whatever is made for the function stays referenced here, and so does what it returns. */
static void *lp_made[1024];
static int lp_made_count;
static char lp_result[256] __attribute__((aligned(16)));

static unsigned char lp_byte(void)
{
    int c = getchar();
    return c < 0 ? 0 : (unsigned char)c;
}

static void lp_bytes(void *at, unsigned long size)
{
    for (unsigned long i = 0; i < size; i++)
        ((unsigned char *)at)[i] = lp_byte();
}

/* Up to `size` bytes, to the first zero. */
static void lp_text(void *at, unsigned long size)
{
    for (unsigned long i = 0; at && i < size; i++)
        if (!(((unsigned char *)at)[i] = lp_byte()))
            break;
}

/* Zeroed memory that may be freed, noted in the place `at`. */
static void *lp_new(void *at, unsigned long size)
{
    char *made = lp_made_count < 1024 ? memalign(16, size) : 0;
    if (made) {
        for (unsigned long i = 0; i < size; i++)
            made[i] = 0;
        lp_made[lp_made_count++] = made;
    }
    *(void **)at = made;
    return made;
}

static void lp_keep_result(const void *at, unsigned long size)
{
    for (unsigned long i = 0; i < size && i < sizeof lp_result; i++)
        lp_result[i] = ((const char *)at)[i];
}

/* Stands for any function that is called through a pointer. */
static long lp_stub(void)
{
    long result = 0;
    lp_bytes(&result, 4);
    return result;
}
