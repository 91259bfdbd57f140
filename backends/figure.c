/* figure.c - a number with its unit, read and printed in powers of 1000, and of 1024 for bytes. */
#include "backends/figure.h"

#include <ctype.h>
#include <string.h>

static const char powers[] = "KMGT";

bool figure_number(const char **s, int64_t least, int64_t most, int64_t *out)
{
    int64_t v = 0;
    if (!isdigit((unsigned char)**s))
        return false;
    for (; isdigit((unsigned char)**s); ++*s)
        if (!int_mul(v, 10, &v) || !int_add(v, **s - '0', &v))
            return false;
    *out = v;
    return v >= least && v <= most;
}

static bool scaled(const char **s, int64_t by, int64_t *v)
{
    const char *power = **s ? strchr(powers, **s) : NULL;
    for (const char *p = powers; power && p <= power; p++)
        if (!int_mul(*v, by, v))
            return false;
    *s += power != NULL;
    return true;
}

bool figure_bytes(const char **s, int64_t *out)
{
    if (!figure_number(s, 1, INT64_MAX, out))
        return false;
    const char *power = *s;
    if (!scaled(s, 1024, out))
        return false;
    *s += *s > power && **s == 'i';
    *s += **s == 'B';
    return true;
}

bool figure_rate(const char **s, const char *unit, int64_t *out)
{
    const size_t n = strlen(unit);
    if (!figure_number(s, 1, INT64_MAX, out) || !scaled(s, 1000, out) || strncmp(*s, unit, n) != 0)
        return false;
    *s += n;
    return true;
}

static void print(text *t, int64_t v, int64_t by, const char *unit)
{
    int power = 0;
    while (v && v % by == 0 && powers[power])
        v /= by, power++;
    text_add(t, "%lld", (long long)v);
    text_bytes(t, &powers[power ? power - 1 : 0], power > 0);
    text_add(t, "%s", unit);
}

void figure_print_bytes(text *t, int64_t bytes)
{
    print(t, bytes, 1024, "B");
}

void figure_print_rate(text *t, int64_t rate, const char *unit)
{
    print(t, rate, 1000, unit);
}
