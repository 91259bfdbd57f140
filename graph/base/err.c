/* err.c - the first failure, in words. Text never ends inside a UTF-8 sequence. The message proper is cut early enough
 * that a hint and where it happened still fit: names from files may be long, remedies are short. */
#include "graph/base/base.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { TEXT_SIZE = sizeof(((err *)0)->text), MESSAGE_SIZE = 1500 };

void must_failed(const char *what, const char *file, int line)
{
    const char *then = errno == ENOMEM ? "the system had no memory for it: free some" : "please report this as a bug";
    fprintf(stderr, "%s:%d: this must hold: %s\n%s\n", file, line, what, then);
    abort();
}

/* Shortens s, which was cut at some byte, to whole characters. */
static void drop_partial(char *s)
{
    size_t n = strlen(s), back = 0;
    while (back < 3 && back < n && ((unsigned char)s[n - 1 - back] & 0xC0) == 0x80)
        back++;
    if (back == n)
        return;
    unsigned char lead = (unsigned char)s[n - 1 - back];
    size_t need = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
    if (need > back)
        s[n - 1 - back] = 0;
}

/* Formats into s; what does not fit is replaced by "...". */
static void format_cut(char *s, size_t size, const char *fmt, va_list args)
{
    int n = vsnprintf(s, size, fmt, args);
    if (n < 0 || size < 4)
        s[0] = 0;
    else if ((size_t)n >= size) {
        s[size - 4] = 0;
        drop_partial(s);
        memcpy(s + strlen(s), "...", 4);
    }
}

bool err_set(err *e, ts_code code, const char *fmt, ...)
{
    if (!e || err_is(e))
        return false;
    MUST(code != TS_OK);
    va_list args;
    va_start(args, fmt);
    e->code = code;
    format_cut(e->text, MESSAGE_SIZE, fmt, args);
    va_end(args);
    return false;
}

bool err_memory(err *e, size_t bytes, const char *fmt, ...)
{
    if (!e || err_is(e))
        return false;
    char what[TEXT_SIZE / 4];
    va_list args;
    va_start(args, fmt);
    format_cut(what, sizeof what, fmt, args);
    va_end(args);
    struct rusage taken = {0};
    (void)getrusage(RUSAGE_SELF, &taken);
    if (bytes)
        err_set(e, TS_MEMORY, "no memory for %s: %zu bytes", what, bytes);
    else
        err_set(e, TS_MEMORY, "no memory for %s: this process has taken %ld KiB", what, taken.ru_maxrss);
    return err_hint(e, "end other programs, or let this one have more memory (ulimit -v says what it may have)");
}

void memory_failed(size_t bytes, const char *what)
{
    err e = {0};
    err_memory(&e, bytes, "%s", what);
    fprintf(stderr, "error: %s\n", e.text);
    exit(TS_MEMORY);
}

static const char mark[] = "\n  hint: ";

bool err_hinted(const err *e)
{
    return strstr(e->text, mark) != NULL;
}

bool err_hint(err *e, const char *fmt, ...)
{
    if (!e || !err_is(e))
        return false;
    size_t n = strlen(e->text);
    if (TEXT_SIZE - n < sizeof mark + 4)
        return false;
    memcpy(e->text + n, mark, sizeof mark);
    n += sizeof mark - 1;
    va_list args;
    va_start(args, fmt);
    format_cut(e->text + n, TEXT_SIZE - n, fmt, args);
    va_end(args);
    const char *hint = e->text + n;
    const size_t size = strlen(hint);
    for (const char *s = e->text; (s = strstr(s, mark)) + sizeof mark - 1 < hint;) {
        s += sizeof mark - 1;
        if (!strncmp(s, hint, size) && s[size] == '\n')
            return e->text[n - (sizeof mark - 1)] = 0, false; /* it is there */
    }
    return false;
}

bool err_in(err *e, const char *fmt, ...)
{
    if (!e || !err_is(e))
        return false;
    char old[TEXT_SIZE], where[TEXT_SIZE / 4];
    memcpy(old, e->text, sizeof old);
    va_list args;
    va_start(args, fmt);
    format_cut(where, sizeof where, fmt, args);
    va_end(args);
    if (snprintf(e->text, sizeof e->text, "%s: %s", where, old) >= TEXT_SIZE)
        drop_partial(e->text);
    return false;
}

bool err_is(const err *e)
{
    return e && e->code != TS_OK;
}

bool err_given(const void *what, const char *name, err *e)
{
    return what || err_set(e, TS_USAGE, "%s is missing: NULL was given", name);
}
