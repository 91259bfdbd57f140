/* value.c - strict readers: the whole text counts, nothing overflows. */
#include "cli/value.h"
#include "graph/base/suggest.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool value_integer(const char *s, int64_t *out)
{
    const char *digits = *s == '-' ? s + 1 : s;
    if (!isdigit((unsigned char)*digits))
        return false;
    char *end;
    errno = 0;
    long long v = strtoll(s, &end, 10);
    if (errno || *end)
        return false;
    *out = v;
    return true;
}

bool value_number(const char *s, double *out)
{
    char *end;
    if (!*s || strspn(s, "+-.0123456789eE") != strlen(s))
        return false;
    *out = strtod(s, &end);
    return !*end && isfinite(*out);
}

/* A plain decimal number: no sign, exponent, hexadecimal or "inf". */
static bool decimal(const char *s, double *out, const char **end)
{
    size_t n = strspn(s, "0123456789.");
    if (n == 0 || n > 15 || strspn(s, ".") == n)
        return false;
    char digits[16];
    memcpy(digits, s, n);
    digits[n] = 0;
    char *stop;
    *out = strtod(digits, &stop);
    *end = s + n;
    return *stop == 0;
}

typedef struct unit {
    const char *name;
    double factor;
} unit;

static bool scaled(const char *s, const unit *units, double *out)
{
    const char *end;
    if (!decimal(s, out, &end))
        return false;
    for (; units->name; units++) {
        if (strcmp(end, units->name) == 0) {
            *out *= units->factor;
            return true;
        }
    }
    return false;
}

static const unit times[] = {{"", 1}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {0}};
static const unit shares[] = {{"%", 0.01}, {0}};
static const unit sizes[] = {{"", 1},
                             {"B", 1},
                             {"KiB", 1024},
                             {"MiB", 1048576},
                             {"GiB", 1073741824},
                             {"TiB", 1.099511627776e12},
                             {"K", 1024},
                             {"M", 1048576},
                             {"G", 1073741824},
                             {"T", 1.099511627776e12},
                             {0}};

bool value_seconds(const char *s, double *out)
{
    return scaled(s, times, out) && *out > 0 && *out < 1e9;
}

bool value_bytes(const char *s, int64_t *out)
{
    double v;
    if (!scaled(s, sizes, &v) || v < 1 || v > 9e15)
        return false;
    *out = (int64_t)v;
    return true;
}

bool value_percent(const char *s, double *out)
{
    return scaled(s, shares, out) && *out < 10;
}

/* As %g has it, without the zero that it puts before a short exponent. */
static void spell_number(double v, char out[32])
{
    snprintf(out, 32, "%g", v);
    char *zero = strchr(out, 'e');
    if (zero && zero[2] == '0')
        memmove(zero + 2, zero + 3, strlen(zero + 3) + 1);
}

void value_spell(const option *o, double v, char *out, size_t size)
{
    const unit *units = o->kind == SECONDS ? times : o->kind == BYTES ? sizes : o->kind == PERCENT ? shares : NULL;
    const char *name = "";
    char number[32];
    spell_number(v, number);
    for (; units && units->name; units++) {
        const double n = v / units->factor;
        if (fabs(n - round(n)) > 1e-9 * n && o->kind != PERCENT)
            continue;
        spell_number(n, number);
        name = units->name;
    }
    snprintf(out, size, "%s%s", number, name);
}

bool value_listed(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (;; list++) {
        size_t length = strcspn(list, "|");
        if (length == n && memcmp(list, word, n) == 0)
            return true;
        list += length;
        if (!*list)
            return false;
    }
}

static bool check_choice(const option *o, const char *value, ts_error *e)
{
    if (value_listed(o->value, value))
        return true;
    err_set(e, TS_USAGE, "--%s \"%s\": must be one of %s", o->name, value, o->value);
    char words[128];
    snprintf(words, sizeof words, "%s", o->value);
    ENDED_BY(suggest_free) suggestion near = {.word = value};
    char *rest = words;
    for (char *w; (w = strsep(&rest, "|"));)
        suggest_offer(&near, w);
    suggest_near(&near, "", e);
    return false;
}

static bool check_integer(const option *o, const char *value, ts_error *e)
{
    int64_t v;
    if (value_integer(value, &v) && v >= o->least && v <= o->most)
        return true;
    return err_set(e, TS_USAGE, "--%s \"%s\": must be a whole number from %lld to %lld", o->name, value,
                   (long long)o->least, (long long)o->most);
}

static bool check_number(const option *o, const char *value, ts_error *e)
{
    double v;
    if (value_number(value, &v) && v >= (double)o->least && v <= (double)o->most)
        return true;
    return err_set(e, TS_USAGE, "--%s \"%s\": must be a number from %lld to %lld, as in 5e-5", o->name, value,
                   (long long)o->least, (long long)o->most);
}

static bool are_limits(const char *value)
{
    bool are = *value && value[strlen(value) - 1] != ',';
    for (named_size x; are && size_next(&value, &x);)
        are = x.bytes > 0;
    return are;
}

bool value_check(const option *o, const char *value, ts_error *e)
{
    const char *wanted = NULL, *equals = strchr(value, '=');
    int64_t i;
    double d;
    switch (o->kind) {
    case CHOICE: return check_choice(o, value, e);
    case INTEGER: return check_integer(o, value, e);
    case NUMBER: return check_number(o, value, e);
    case PAIR: wanted = equals && equals > value && equals[1] ? NULL : o->value; break;
    case SECONDS: wanted = value_seconds(value, &d) ? NULL : "a time, as in 2s, 500ms or 1m"; break;
    case BYTES: wanted = value_bytes(value, &i) ? NULL : "a size in bytes, as in 512M or 4G"; break;
    case LIMITS:
        wanted = are_limits(value) ? NULL
                                   : "a size in bytes, as in 4G, or sizes by device, as in c:numa0=8G,c:numa1=4G";
        break;
    case PERCENT: wanted = value_percent(value, &d) ? NULL : "a percentage, as in 1%"; break;
    case FLAG: break;
    default: wanted = *value ? NULL : "something"; /* a text of whatever kind */
    }
    return !wanted || err_set(e, TS_USAGE, "--%s \"%s\": must be %s", o->name, value, wanted);
}
