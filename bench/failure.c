#include "bench/failure.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool bench_fail(ts_error *e, ts_code code, const char *fmt, ...)
{
    if (e == NULL || e->code != TS_OK)
        return false;
    va_list list;
    va_start(list, fmt);
    vsnprintf(e->text, sizeof e->text, fmt, list);
    va_end(list);
    e->code = code;
    return false;
}

bool bench_hint(ts_error *e, const char *fmt, ...)
{
    if (e == NULL)
        return false;
    size_t n = strlen(e->text);
    n += (size_t)snprintf(e->text + n, sizeof e->text - n, "\n  hint: ");
    if (n >= sizeof e->text)
        return false;
    va_list list;
    va_start(list, fmt);
    vsnprintf(e->text + n, sizeof e->text - n, fmt, list);
    va_end(list);
    return false;
}
