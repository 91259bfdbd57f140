/* text.c - a growing string, and the two escapes: for JSON and for terminals. Strings from files go out through an
 * escape only. Growing doubles; running out of memory for a text ends the process, as for arenas. */
#include "graph/base/base.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for n more bytes and the terminator. */
static void text_room(text *t, size_t n)
{
    size_t need, cap = t->cap ? t->cap : 64;
    MUST(size_add(t->length, n, &need) && size_add(need, 1, &need));
    if (need <= t->cap)
        return;
    while (cap < need)
        MUST(size_mul(cap, 2, &cap));
    t->s = realloc(t->s, cap);
    MUST(t->s != NULL);
    t->cap = cap;
}

static void text_add_list(text *t, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    size_t left = t->cap - t->length;
    int n = vsnprintf(left ? t->s + t->length : NULL, left, fmt, args);
    MUST(n >= 0);
    if ((size_t)n >= left) {
        text_room(t, (size_t)n);
        vsnprintf(t->s + t->length, (size_t)n + 1, fmt, again);
    }
    va_end(again);
    t->length += (size_t)n;
}

void text_add(text *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    text_add_list(t, fmt, args);
    va_end(args);
}

void text_line(text *t, const char *fmt, ...)
{
    size_t start = t->length;
    text_add(t, "%*s", 4 * t->depth, "");
    size_t indented = t->length;
    va_list args;
    va_start(args, fmt);
    text_add_list(t, fmt, args);
    va_end(args);
    if (t->length == indented)
        t->length = start; /* an empty line carries no spaces */
    text_bytes(t, "\n", 1);
}

void text_bytes(text *t, const char *s, size_t n)
{
    text_room(t, n);
    if (n > 0)
        memcpy(t->s + t->length, s, n);
    t->length += n;
    t->s[t->length] = 0;
}

size_t utf8_next(const char *s, uint32_t *code)
{
    const unsigned char *u = (const unsigned char *)s;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (u[0] < 0x80)
        return *code = u[0], 1;
    size_t n = u[0] >= 0xF8 ? 0 : u[0] >= 0xF0 ? 4 : u[0] >= 0xE0 ? 3 : u[0] >= 0xC0 ? 2 : 0;
    if (n == 0)
        return 0;
    uint32_t c = u[0] & (0xFFU >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        if ((u[i] & 0xC0) != 0x80)
            return 0;
        c = c << 6 | (u[i] & 0x3FU);
    }
    *code = c;
    return c < least[n] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF) ? 0 : n;
}

void text_json(text *t, const char *s)
{
    text_bytes(t, "\"", 1);
    while (*s) {
        uint32_t code;
        size_t n = utf8_next(s, &code);
        if (n == 0)
            text_bytes(t, "\xEF\xBF\xBD", 3);
        else if (code == '"' || code == '\\')
            text_add(t, "\\%c", (int)code);
        else if (code == '\n')
            text_bytes(t, "\\n", 2);
        else if (code < 0x20 || code == 0x7F)
            text_add(t, "\\u%04x", (unsigned)code);
        else
            text_bytes(t, s, n);
        s += n ? n : 1;
    }
    text_bytes(t, "\"", 1);
}

bool word_is(const char *name, const char *s, size_t n)
{
    return strlen(name) == n && !memcmp(name, s, n);
}

bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

int row_named(const void *rows, int n, size_t size, const char *name)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(*(const char *const *)((const char *)rows + (size_t)i * size), name))
            return i;
    return -1;
}

bool utf8_hidden(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } hidden[] = {{0, 0x1F},        {0x7F, 0x9F},     {0xAD, 0xAD},     {0x61C, 0x61C},
                  {0x180E, 0x180E}, {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F},
                  {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xFFFE, 0xFFFF}, {0xE0000, 0xE0FFF}};
    for (int i = 0; i < COUNT(hidden); i++)
        if (code >= hidden[i].first && code <= hidden[i].last)
            return true;
    return false;
}

void text_safe(text *t, const char *s)
{
    while (*s) {
        uint32_t code;
        size_t n = utf8_next(s, &code);
        if (n > 0 && !utf8_hidden(code)) {
            text_bytes(t, s, n);
            s += n;
            continue;
        }
        for (size_t stop = n ? n : 1; stop > 0; stop--)
            text_add(t, "\\x%02x", (unsigned)(unsigned char)*s++);
    }
}

bool line_next(const char **at, char *line, size_t size)
{
    if (!*at || !**at)
        return false;
    const size_t n = strcspn(*at, "\n"), kept = n < size ? n : size - 1;
    memcpy(line, *at, kept);
    line[kept] = 0;
    *at += n + ((*at)[n] == '\n');
    return true;
}

array_words array_type(const ts_array *a)
{
    array_words out;
    size_t n = (size_t)snprintf(out.s, sizeof out.s, "%s[", ts_dtype_name(a->dtype));
    for (int i = 0; i < a->rank && i < TS_MAX_RANK; i++)
        n += (size_t)snprintf(out.s + n, sizeof out.s - n, "%s%lld", i ? "," : "", (long long)a->dim[i]);
    snprintf(out.s + n, sizeof out.s - n, "]");
    return out;
}

void text_free(text *t)
{
    free(t->s);
    *t = (text){0};
}

char *text_take(text *t)
{
    text_room(t, 0);
    t->s[t->length] = 0;
    char *s = t->s;
    *t = (text){0};
    return s;
}

const char *text_str(const text *t)
{
    return t->s ? t->s : "";
}

void text_size(text *t, double bytes)
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int i = 0;
    while (bytes >= 1024 && i < COUNT(unit) - 1)
        bytes /= 1024, i++;
    text_add(t, i && bytes < 100 ? "%.1f %s" : "%.0f %s", bytes, unit[i]);
}

bool size_read(const char *s, size_t n, int64_t *out)
{
    static const char units[] = "KMGT";
    char own[24] = "", *end;
    const size_t digits = strspn(s, "0123456789."), behind = n - digits;
    if (!digits || digits > n || digits >= sizeof own || behind > 3)
        return false;
    memcpy(own, s, digits);
    double v = strtod(own, &end);
    const char *unit = behind && *end == 0 ? strchr(units, s[digits]) : NULL;
    for (const char *u = unit; u && u >= units; u--)
        v *= 1024;
    const char *rest = s + digits + (unit != NULL);
    const size_t left = behind - (unit != NULL);
    *out = v >= 1 && v < 9e18 ? (int64_t)v : 0;
    return *out && *end == 0 && (!left || word_is("B", rest, left) || (unit && word_is("iB", rest, left)));
}

bool size_next(const char **at, named_size *x)
{
    if (!*at || !**at)
        return false;
    *x = (named_size){.s = *at, .length = strcspn(*at, ",")};
    const size_t name = strcspn(*at, "=,");
    x->name = name < x->length ? name : 0;
    const size_t from = x->name ? name + 1 : 0;
    if (!size_read(*at + from, x->length - from, &x->bytes))
        x->bytes = 0;
    *at += x->length, *at += **at == ',';
    return true;
}

int64_t size_named(const char *sizes, const char *name)
{
    int64_t bytes = 0;
    for (named_size x; size_next(&sizes, &x);)
        bytes = word_is(name, x.s, x.name) ? x.bytes : bytes;
    return bytes;
}

static bool is_among(const char *names, const char *s, size_t n) /* s[0..n) is one of "A,B" */
{
    bool is = false;
    for (const char *at = names; at && *at && !is; at += strcspn(at, ","), at += *at == ',')
        is = strcspn(at, ",") == n && !strncmp(at, s, n);
    return is;
}

char *sizes_make(const char *sizes, const char *names, const char *own)
{
    text t = {0};
    for (named_size x; size_next(&sizes, &x);)
        if (!x.name || is_among(own, x.s, x.name) || !is_among(names, x.s, x.name))
            text_add(&t, "%s%.*s", t.length ? "," : "", (int)x.length, x.s);
    return text_take(&t);
}
