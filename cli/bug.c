/* bug.c - the one way out for what should not have happened. */
#include "cli/bug.h"

#include <stdio.h>
#include <stdlib.h>

void fail_bug(const char *what, const char *name)
{
    fprintf(stderr, "internal error: %s: %s\n", what, name);
    abort();
}
