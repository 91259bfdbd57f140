#include "tests/check.h"

#include <stdio.h>
#include <string.h>

static int n_checked, n_failed;

bool check_that(bool ok, const char *what, const char *file, int line)
{
    n_checked++;
    if (ok)
        return true;
    n_failed++;
    fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
    return false;
}

bool check_text(const char *got, const char *want, const char *file, int line)
{
    if (check_that(got && want && strcmp(got, want) == 0, "texts are equal", file, line))
        return true;
    fprintf(stderr, "  got:  %s\n  want: %s\n", got ? got : "(null)", want ? want : "(null)");
    return false;
}

int check_count(const char *in, const char *what)
{
    int n = 0;
    for (; in && (in = strstr(in, what)); in++)
        n++;
    return n;
}

int check_skip(const char *why)
{
    printf("skipped: %s\n", why);
    return CHECK_SKIP;
}

int check_done(void)
{
    printf("%d checks, %d failed\n", n_checked, n_failed);
    return n_failed || !n_checked;
}
