/* fail.c - setting errors. */
#include "cli/fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool fail(ts_error *e, ts_code code, const char *fmt, ...)
{
    if (e->code)
        return false;
    e->code = code;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(e->text, sizeof e->text, fmt, ap);
    va_end(ap);
    return false;
}

bool fail_hint(ts_error *e, const char *fmt, ...)
{
    static const char lead[] = "\n  hint: ";
    size_t n = strlen(e->text);
    if (n + sizeof lead >= sizeof e->text)
        return false;
    memcpy(e->text + n, lead, sizeof lead);
    n += sizeof lead - 1;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(e->text + n, sizeof e->text - n, fmt, ap);
    va_end(ap);
    return false;
}

void fail_bug(const char *what, const char *name)
{
    fprintf(stderr, "internal error: %s: %s\n", what, name);
    abort();
}
