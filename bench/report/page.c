#include "bench/report/page.h"
#include "bench/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void page_room(page *p, size_t more)
{
    if (p->cap - p->len > more)
        return;
    size_t cap = p->cap ? p->cap : 256;
    while (cap - p->len <= more) {
        if (cap > SIZE_MAX / 2)
            abort();
        cap *= 2;
    }
    p->s = realloc(p->s, cap);
    if (!p->s)
        abort();
    p->cap = cap;
}

void page_bytes(page *p, const char *s, size_t n)
{
    page_room(p, n);
    memcpy(p->s + p->len, s, n);
    p->len += n;
    p->s[p->len] = 0;
}

void page_add(page *p, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (n < 0)
        abort();
    page_room(p, (size_t)n);
    vsnprintf(p->s + p->len, (size_t)n + 1, fmt, again);
    va_end(again);
    p->len += (size_t)n;
}

const char *page_str(const page *p)
{
    return p->s ? p->s : "";
}

char *page_take(page *p)
{
    page_room(p, 0);
    p->s[p->len] = 0;
    char *s = p->s;
    *p = (page){0};
    return s;
}

void page_free(page *p)
{
    free(p->s);
    *p = (page){0};
}

/* ---- foreign text ---- */

static const char *entity(uint32_t code)
{
    switch (code) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return NULL;
    }
}

/* One character as it is shown; returns the columns it takes. */
static int shown(char out[24], const char *s, int len, uint32_t code)
{
    if (!len)
        return snprintf(out, 24, "\\x%02x", (unsigned)(unsigned char)*s);
    if (!utf8_hidden(code))
        return memcpy(out, s, (size_t)len), out[len] = 0, 1;
    return snprintf(out, 24, code < 0x100 ? "\\x%02x" : "\\u{%x}", (unsigned)code);
}

typedef struct manner {
    size_t columns;
    bool html;
    const char *kept;   /* control characters that stay */
    const char *breaks; /* characters after which a line may break */
} manner;

static void escape(page *p, const char *s, manner m)
{
    size_t n = s ? strlen(s) : 0, used = 0, before_last = p->len;
    for (size_t i = 0; i < n;) {
        uint32_t code = 0;
        char out[24];
        int len = utf8_read(s + i, n - i, &code);
        const char *named = m.html && len == 1 ? entity(code) : NULL;
        bool keep = len == 1 && strchr(m.kept, s[i]);
        int wide = 1;
        if (keep || named)
            snprintf(out, sizeof out, "%.*s", named ? 6 : 1, named ? named : s + i);
        else
            wide = shown(out, s + i, len, code);
        if (used + (size_t)wide > m.columns) {
            p->len = before_last;
            page_add(p, "…");
            return;
        }
        /* what has to go if the next character does not fit any more */
        if (used + (size_t)wide < m.columns)
            before_last = p->len + strlen(out);
        page_bytes(p, out, strlen(out));
        if (len == 1 && strchr(m.breaks, s[i]))
            page_add(p, "<wbr>");
        used += (size_t)wide;
        i += len ? (size_t)len : 1;
    }
}

void page_text(page *p, const char *s)
{
    escape(p, s, (manner){SIZE_MAX / 2, true, "", ""});
}

void page_name(page *p, const char *s)
{
    escape(p, s, (manner){120, true, "", "./_:"});
}

void page_clip(page *p, const char *s, int columns)
{
    escape(p, s, (manner){columns < 1 ? 1 : (size_t)columns, true, "", ""});
}

void page_code(page *p, const char *s)
{
    escape(p, s, (manner){SIZE_MAX / 2, true, "\n\t", ""});
}

void page_plain(page *p, const char *s)
{
    escape(p, s, (manner){SIZE_MAX / 2, false, "", ""});
}

static void embed_code(page *p, uint32_t c)
{
    if (c > 0xffff)
        page_add(p, "\\u%04x\\u%04x", (unsigned)(0xd7c0 + (c >> 10)), (unsigned)(0xdc00 | (c & 0x3ff)));
    else
        page_add(p, "\\u%04x", (unsigned)c);
}

void page_embed(page *p, const char *json)
{
    bool in_string = false;
    for (size_t i = 0, n = strlen(json); i < n;) {
        uint32_t code = 0xfffd;
        int len = utf8_read(json + i, n - i, &code);
        if (!in_string) {
            if (code > ' ' && code < 0x7f)
                page_bytes(p, json + i, 1);
            in_string = code == '"';
        } else if (code == '\\' && i + 1 < n) {
            page_bytes(p, json + i, 2); /* the parser has checked what follows a backslash */
            len = 2;
        } else {
            if (!len || code == '<' || utf8_hidden(code))
                embed_code(p, code);
            else
                page_bytes(p, json + i, (size_t)len);
            in_string = code != '"';
        }
        i += len ? (size_t)len : 1;
    }
}

/* ---- numbers in words ---- */

/* A number and its unit, kept on one line by a space that does not break; a minus sign as wide as a plus. */
static word join(double v, int digits, const char *unit)
{
    word w;
    char number[32];
    snprintf(number, sizeof number, "%.*f", digits, fabs(v));
    bool zero = strspn(number, "0.") == strlen(number);
    snprintf(w.s, sizeof w.s, "%s%s%s%.8s", v < 0 && !zero ? "−" : "", number, *unit ? "\u00a0" : "", unit);
    return w;
}

/* Three significant digits without an exponent: 403, 71.3, 5.65, 0.31. */
static word three(double v, const char *unit)
{
    double a = fabs(v);
    return join(v, a >= 99.95 || a == 0 ? 0 : a >= 9.995 ? 1 : 2, unit);
}

static word missing(void)
{
    return (word){"–"};
}

word word_time(double ns)
{
    if (!isfinite(ns))
        return missing();
    double a = fabs(ns);
    if (a < 999.5)
        return three(ns, "ns");
    if (a < 999.5e3)
        return three(ns / 1e3, "µs");
    if (a < 999.5e6)
        return three(ns / 1e6, "ms");
    return a < 1e15 ? three(ns / 1e9, "s") : word_number(ns / 1e9);
}

word word_tick(double v, const char *unit)
{
    word w;
    bool apart = *unit && v != 0 && strcmp(unit, "×") != 0;
    snprintf(w.s, sizeof w.s, "%.4g%s%.8s", v, apart ? "\u00a0" : "", v != 0 ? unit : "");
    return w;
}

word word_gain(double ns)
{
    if (!isfinite(ns))
        return missing();
    word w, t = word_time(fabs(ns));
    snprintf(w.s, sizeof w.s, "%s%.40s", ns < 0 ? "−" : "+", t.s);
    return w;
}

word word_bytes(double bytes)
{
    static const char *unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    if (!isfinite(bytes))
        return missing();
    size_t i = 0;
    while (fabs(bytes) >= 1023.5 && i + 1 < sizeof unit / sizeof *unit)
        bytes /= 1024, i++;
    if (fabs(bytes) > 1e6)
        return word_number(bytes);
    return i ? three(bytes, unit[i]) : join(bytes, 0, "B");
}

word word_share(double share)
{
    double v = share * 100, a = fabs(v);
    if (!isfinite(v))
        return missing();
    if (a > 1e6)
        return word_number(v);
    bool whole = fabs(v - round(v)) < 1e-9;
    return join(v, whole || a >= 9.95 ? 0 : a >= 0.095 ? 1 : 2, "%");
}

word word_ratio(double ratio)
{
    word w;
    if (!isfinite(ratio))
        return missing();
    double off = fabs(ratio - 1);
    snprintf(w.s, sizeof w.s, "%.*f×", off < 0.0995 ? 3 : ratio < 99.95 ? 2 : 0, ratio > 1e9 ? 1e9 : ratio);
    return w;
}

word word_count(double n)
{
    word digits, w = {""};
    if (!isfinite(n) || fabs(n) > 1e18)
        return isfinite(n) ? word_number(n) : missing();
    snprintf(digits.s, sizeof digits.s, "%.0f", n);
    size_t len = strlen(digits.s), at = 0;
    for (size_t i = 0; i < len; i++) {
        bool gap = i && (len - i) % 3 == 0 && digits.s[i - 1] != '-' && len > 4;
        at += (size_t)snprintf(w.s + at, sizeof w.s - at, "%s%c", gap ? "\u00a0" : "", digits.s[i]);
    }
    return w;
}

word word_percent(double share)
{
    word w = {"–"};
    if (isfinite(share))
        snprintf(w.s, sizeof w.s, "%.1f %%", 100 * share);
    return w;
}

word word_real(double v)
{
    word w = {"–"};
    if (isfinite(v))
        snprintf(w.s, sizeof w.s, "%.4g", v);
    return w;
}

word word_number(double v)
{
    word w;
    if (!isfinite(v))
        return missing();
    if (v == 0 || (fabs(v) >= 0.01 && fabs(v) < 1e5))
        return three(v, "");
    snprintf(w.s, sizeof w.s, "%.2g", v);
    return w;
}
