/* cell.c - columns are counted as a terminal shows them: by ranges of characters that take two, or none. */
#include "bench/cell.h"
#include "graph/base/base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct range {
    uint32_t first, last;
} range;

static int within(const range *r, size_t n, uint32_t c)
{
    for (size_t i = 0; i < n; i++)
        if (c >= r[i].first && c <= r[i].last)
            return 1;
    return 0;
}

/* Blocks of the East Asian Width and general category tables of Unicode, coarse at their edges. */
static int columns(uint32_t c)
{
    static const range none[] = {{0x300, 0x36F},   {0x483, 0x489},   {0x591, 0x5BD},   {0x1AB0, 0x1AFF},
                                 {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}};
    static const range wide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},  {0xAC00, 0xD7A3},
                                 {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},  {0xFFE0, 0xFFE6},
                                 {0x1F300, 0x1F64F}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
    return within(none, sizeof none / sizeof *none, c) ? 0 : within(wide, sizeof wide / sizeof *wide, c) ? 2 : 1;
}

int cell_width(const char *s)
{
    int width = 0;
    uint32_t c = 0;
    for (size_t n; *s != 0; s += n > 0 ? n : 1) {
        n = utf8_next(s, &c);
        width += n > 0 ? columns(c) : 1;
    }
    return width;
}

/* The start of s that takes at most `width` columns, in bytes. */
static size_t fitting(const char *s, int width)
{
    const char *at = s;
    uint32_t c = 0;
    while (*at != 0) {
        size_t n = utf8_next(at, &c);
        width -= n > 0 ? columns(c) : 1;
        if (width < 0)
            break;
        at += n > 0 ? n : 1;
    }
    return (size_t)(at - s);
}

char *cell_text(const char *s, int width)
{
    size_t n = strlen(s), used = 0;
    char *out = calloc(n + 2, 4); /* a byte becomes four characters at most; room for the ellipsis */
    for (size_t i = 0; out && i < n;) {
        uint32_t c = 0;
        size_t k = utf8_next(s + i, &c), step = k > 0 ? k : 1;
        for (size_t j = 0; j < step; j++) {
            if (k == 0 || utf8_hidden(c))
                used += (size_t)snprintf(out + used, 5, "\\x%02X", (unsigned char)s[i + j]);
            else
                out[used++] = s[i + j];
        }
        i += step;
    }
    if (out && width > 0 && cell_width(out) > width)
        snprintf(out + fitting(out, width - 1), 4, "\xE2\x80\xA6");
    return out;
}

void cell_put(FILE *f, const char *s, int width, int right)
{
    int blanks = width - cell_width(s);
    blanks = blanks > 0 ? blanks : 0;
    fprintf(f, "%*s%s%*s", right ? blanks : 0, "", s, right ? 0 : blanks, "");
}

quantity cell_number(double v)
{
    quantity q = {"-"};
    double size = fabs(v);
    if (!isfinite(v))
        return q;
    if (size != 0 && (size < 1e-3 || size >= 1e6))
        snprintf(q.s, sizeof q.s, "%.2e", v);
    else
        snprintf(q.s, sizeof q.s, "%.*f",
                 size >= 99.95 || size == 0 ? 0
                 : size >= 9.995            ? 1
                 : size >= 0.9995           ? 2
                                            : 3,
                 v);
    return q;
}

static quantity with_unit(double v, const char *unit)
{
    quantity n = cell_number(v), q;
    snprintf(q.s, sizeof q.s, "%.20s %s", n.s, unit);
    return q;
}

quantity cell_time(double ns)
{
    return !isfinite(ns)  ? cell_number(ns)
           : ns < 999.5   ? with_unit(ns, "ns")
           : ns < 999.5e3 ? with_unit(ns * 1e-3, "\xC2\xB5s")
           : ns < 999.5e6 ? with_unit(ns * 1e-6, "ms")
                          : with_unit(ns * 1e-9, "s");
}

quantity cell_bytes(double bytes)
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int i = 0;
    for (; i < 4 && bytes >= 999.5; i++)
        bytes /= 1024;
    return isfinite(bytes) ? with_unit(bytes, unit[i]) : cell_number(bytes);
}

quantity cell_share(double v)
{
    quantity q = cell_number(v);
    if (isfinite(v))
        snprintf(q.s, sizeof q.s, "%.0f %%", 100 * v);
    return q;
}
