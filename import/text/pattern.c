/* pattern.c - regular expressions by PCRE2. Where Oniguruma's classes are others than PCRE2's they are written out, and
 * what has no counterpart is refused. Each place is tried on its own, with few steps at first and more out of a budget
 * that grows with the text, so that no pattern takes longer than in proportion to it. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "import/text/pattern.h"
#include "import/text/unicode.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PATTERN = 1 << 14, FREE_STEPS = 256, MORE = 16, BUDGET = 1 << 26, PER_BYTE = 1 << 10, MOST_KIB = 1 << 15 };
struct pattern {
    char *literal;
    size_t n;
    pcre2_code *code; /* NULL: the literal */
};

pattern *pattern_literal(const char *s)
{
    pattern *p = heap_array(1, sizeof *p);
    p->n = strlen(s);
    p->literal = heap_array(p->n + 1, 1);
    memcpy(p->literal, s, p->n);
    return p;
}

void pattern_free(pattern *p)
{
    if (!p)
        return;
    pcre2_code_free(p->code);
    free(p->literal);
    free(p);
}

/* ---- from Ruby's dialect to PCRE2's ---- */
/* Letters, marks, decimal digits, connectors, signs that count as letters; outside of classes Oniguruma adds some of
 * Latin-1. */
#define WORD                                                                                                        \
    "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}\\x{24b6}-\\x{24e9}\\x{1f130}-\\x{1f149}\\x{1f150}-\\x{1f169}\\x{1f170}-\\x{" \
    "1f189}"
#define WIDER WORD "\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}"
#define HEX "0-9a-fA-F"

typedef struct escape {
    char name;
    const char *outside, *inside; /* of a class; NULL: has no counterpart there */
} escape;
static const escape escapes[] = {
    {'w', "[" WIDER "]", WORD},
    {'W', "[^" WIDER "]", NULL},
    {'h', "[" HEX "]", HEX},
    {'H', "[^" HEX "]", NULL},
    {'s', "\\p{White_Space}", "\\p{White_Space}"},
    {'S', "\\P{White_Space}", "\\P{White_Space}"},
    {'d', "\\p{Nd}", "\\p{Nd}"},
    {'D', "\\P{Nd}", "\\P{Nd}"},
    {'b', "(?:(?<=[" WIDER "])(?![" WIDER "])|(?<![" WIDER "])(?=[" WIDER "]))", "\\b"},
    {'B', "(?:(?<=[" WIDER "])(?=[" WIDER "])|(?<![" WIDER "])(?![" WIDER "]))", NULL},
};

/* Translates the escape at s; returns its bytes, 0: refused. */
static size_t put_escape(const char *s, bool inside, text *out, err *e)
{
    if (!s[1])
        return err_set(e, TS_BAD_INPUT, "a \\ at the end"), 0;
    if (s[1] == 'u' && strspn(s + 2, "0123456789abcdefABCDEF") >= 4) {
        text_add(out, "\\x{%.4s}", s + 2);
        return 6;
    }
    for (int i = 0; i < COUNT(escapes); i++) {
        const char *to = inside ? escapes[i].inside : escapes[i].outside;
        if (escapes[i].name != s[1])
            continue;
        if (!to)
            return err_set(e, TS_UNSUPPORTED, "\\%c in a class [...] is not supported", s[1]), 0;
        text_add(out, "%s", to);
        return 2;
    }
    text_bytes(out, s, 2);
    return 2;
}

/* "[:alpha:]" in a class. */
static const struct {
    const char *name, *is;
} classes[] = {
    {"alpha", "\\p{Alphabetic}"},
    {"alnum", "\\p{Alphabetic}\\p{Nd}"},
    {"digit", "\\p{Nd}"},
    {"lower", "\\p{Lowercase}"},
    {"upper", "\\p{Uppercase}"},
    {"space", "\\p{White_Space}"},
    {"punct", "\\p{P}\\p{S}"},
    {"word", WORD},
    {"xdigit", HEX},
    {"cntrl", "\\p{Cc}"},
    {"blank", "\\p{Zs}\\t"},
};

/* Translates the name at s; returns its bytes, 0: refused. */
static size_t put_named(const char *s, text *out, err *e)
{
    const size_t n = strcspn(s + 2, ":");
    for (int i = 0; i < COUNT(classes); i++)
        if (word_is(classes[i].name, s + 2, n) && s[2 + n + 1] == ']') {
            text_add(out, "%s", classes[i].is);
            return n + 4;
        }
    return err_set(e, TS_UNSUPPORTED, "the class \"%.*s\" is not supported", (int)(n < 20 ? n + 4 : 24), s), 0;
}

/* The class at s, classes in it as part of it; returns its bytes, 0: refused. */
static size_t put_class(const char *s, text *out, err *e)
{
    size_t i = 1 + (s[1] == '^');
    text_bytes(out, s, i);
    if (s[i] == ']')
        text_bytes(out, "\\]", 2), i++;
    for (int depth = 1; s[i];) {
        size_t step = 1;
        if (s[i] == '[' && s[i + 1] == ':' && strstr(s + i, ":]"))
            step = put_named(s + i, out, e);
        else if (s[i] == '\\')
            step = put_escape(s + i, true, out, e);
        else if ((s[i] == '[' && s[i + 1] == '^') || (s[i] == '&' && s[i + 1] == '&'))
            return err_set(e, TS_UNSUPPORTED, "\"%.2s\" in a class [...] is not supported", s + i), 0;
        else if (s[i] == '[')
            depth++;
        else if (s[i] != ']' || --depth == 0)
            text_bytes(out, s + i, 1);
        i += step;
        if (!depth || !step)
            return step ? i : 0;
    }
    return err_set(e, TS_BAD_INPUT, "a class [...] without its end"), 0;
}

/* Options at "(?": that a point takes line ends, too, is m there, s here. */
static size_t put_options(const char *s, text *out)
{
    size_t i = 2;
    text_bytes(out, s, 2);
    const size_t n = strspn(s + 2, "imx-");
    for (; i < 2 + n && (s[2 + n] == ':' || s[2 + n] == ')'); i++)
        text_bytes(out, s[i] == 'm' ? "s" : s + i, 1);
    return i;
}

static bool translate(const char *s, text *out, err *e)
{
    for (size_t step; *s; s += step) {
        step = 1;
        if (*s == '\\')
            step = put_escape(s, false, out, e);
        else if (*s == '[')
            step = put_class(s, out, e);
        else if (*s == '(' && s[1] == '*')
            return err_set(e, TS_BAD_INPUT, "\"(*\": nothing to repeat");
        else if (*s == '(' && s[1] == '?')
            step = put_options(s, out);
        else
            text_bytes(out, s, 1);
        if (!step)
            return false;
    }
    return true;
}

pattern *pattern_regex(const char *source, err *e)
{
    if (strlen(source) > MOST_PATTERN)
        return err_set(e, TS_BAD_INPUT, "%zu bytes, at most %d", strlen(source), MOST_PATTERN), NULL;
    ENDED_BY(text_free) text t = {0};
    pattern *p = NULL;
    if (translate(source, &t, e)) {
        int code;
        size_t at;
        pcre2_compile_context *how = pcre2_compile_context_create(NULL);
        MUST(how);
        pcre2_set_newline(how, PCRE2_NEWLINE_LF);
        const uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C;
        pcre2_code *made = pcre2_compile((PCRE2_SPTR)text_str(&t), t.length, options, &code, &at, how);
        pcre2_compile_context_free(how);
        if (made) {
            p = heap_array(1, sizeof *p);
            p->code = made;
        } else {
            PCRE2_UCHAR why[256] = {0};
            pcre2_get_error_message(code, why, sizeof why);
            err_set(e, TS_BAD_INPUT, "%s", (const char *)why);
        }
    }
    return p;
}

/* ---- finding ---- */
finder finder_make(const pattern *p, const char *s, size_t n)
{
    finder f = {.pattern = p, .s = s, .n = n, .last = SIZE_MAX, .budget = BUDGET + PER_BYTE * (int64_t)n};
    if (p->code) {
        f.data = pcre2_match_data_create_from_pattern(p->code, NULL);
        f.limits = pcre2_match_context_create(NULL);
        MUST(f.data && f.limits);
        pcre2_set_heap_limit(f.limits, MOST_KIB);
        for (size_t step; f.high < n && (step = unicode_well(s + f.high, n - f.high));)
            f.high += step;
    }
    return f;
}

void finder_free(finder *f)
{
    pcre2_match_data_free(f->data);
    pcre2_match_context_free(f->limits);
    *f = (finder){0};
}

/* Whether the expression matches at f->at. */
static bool matches(finder *f)
{
    int rc = PCRE2_ERROR_MATCHLIMIT;
    for (uint32_t limit = FREE_STEPS; f->budget >= 0; limit *= MORE, f->budget -= limit) {
        pcre2_set_match_limit(f->limits, limit);
        pcre2_set_depth_limit(f->limits, limit);
        rc = pcre2_match(f->pattern->code, (PCRE2_SPTR)(f->s + f->low), f->high - f->low, f->at - f->low,
                         PCRE2_ANCHORED | PCRE2_NO_UTF_CHECK, f->data, f->limits);
        if (rc == PCRE2_ERROR_HEAPLIMIT)
            f->budget = -1;
        if ((rc != PCRE2_ERROR_MATCHLIMIT && rc != PCRE2_ERROR_DEPTHLIMIT) || limit > BUDGET)
            break;
    }
    const size_t *at = pcre2_get_ovector_pointer(f->data);
    if (rc <= 0 || f->budget < 0 || at[0] > at[1])
        return false;
    f->begin = f->low + at[0], f->end = f->low + at[1], f->group = rc - 1;
    return f->end >= f->at && f->begin >= f->at;
}

/* To the next well-formed part of the text. */
static bool next_part(finder *f)
{
    while (f->high < f->n && !unicode_well(f->s + f->high, f->n - f->high))
        f->high++;
    f->low = f->at = f->high;
    for (size_t step; f->high < f->n && (step = unicode_well(f->s + f->high, f->n - f->high));)
        f->high += step;
    return f->low < f->high;
}

static bool next_literal(finder *f)
{
    const char *at = f->pattern->n ? memmem(f->s + f->at, f->n - f->at, f->pattern->literal, f->pattern->n) : NULL;
    if (!at)
        return false;
    f->begin = (size_t)(at - f->s), f->end = f->at = f->begin + f->pattern->n;
    return true;
}

bool finder_next(finder *f)
{
    if (!f->pattern->code)
        return next_literal(f);
    while (f->budget >= 0) {
        if (f->at > f->high && !next_part(f))
            return false;
        const bool found = matches(f);
        if (found && (f->end > f->begin || f->end != f->last)) {
            f->at = f->last = f->end;
            return true;
        }
        f->at += f->at < f->high ? unicode_well(f->s + f->at, f->high - f->at) : 1;
    }
    return false;
}
