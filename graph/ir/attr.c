/* attr.c - attributes: written in calls ("conv strides=[2,2] group=1"), checked against an op's
 * specification, printed back. */
#include "graph/ir/attr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool read_integer(const char **at, int64_t *out) /* of 64 bits */
{
    char *end;
    errno = 0;
    *out = strtoll(*at, &end, 10);
    return end != *at && !errno && (*at = end, true);
}

/* A word up to a blank, or in quotes: then with blanks, a quote and a backslash behind a backslash. */
static bool read_text(arena *mem, const char **at, attr *a)
{
    const char *s = *at;
    if (*s != '"') {
        const size_t n = strcspn(s, " ");
        a->s = arena_format(mem, "%.*s", (int)n, s);
        return *at += n, n > 0;
    }
    ENDED_BY(text_free) text t = {0};
    for (s++; *s && *s != '"'; s++) {
        s += *s == '\\' && s[1];
        text_bytes(&t, s, 1);
    }
    const bool closed = *s == '"';
    a->s = arena_string(mem, text_str(&t)), *at = s + closed;
    return closed;
}

/* One value of the wanted kind at *at, which moves behind it. */
static bool read_value(arena *mem, const char **at, attr *a)
{
    char *end;
    if (a->kind == 'i')
        return read_integer(at, &a->i);
    if (a->kind == 'f')
        return a->f = strtod(*at, &end), end != *at && (*at = end, true);
    if (a->kind == 's')
        return read_text(mem, at, a);
    int64_t ints[256];
    double reals[256];
    const char *s = *at;
    if (*s++ != '[')
        return false;
    for (a->n = 0; *s != ']';) {
        const char *from = s;
        if (a->n == COUNT(ints) || (a->kind == 'I' && !read_integer(&s, &ints[a->n])))
            return false;
        if (a->kind == 'F')
            reals[a->n] = strtod(s, &end), s = end;
        if (s == from)
            return false;
        a->n++, s += strspn(s, " ");
        if (*s == ',')
            s += 1 + strspn(s + 1, " ");
        else if (*s != ']')
            return false;
    }
    *at = s + 1;
    if (a->kind == 'I')
        a->ints = arena_joined(mem, ints, a->n, NULL, 0, sizeof *ints);
    else
        a->reals = arena_joined(mem, reals, a->n, NULL, 0, sizeof *reals);
    return true;
}

/* name ends after n bytes, not with a 0: it is part of a call. */
static const attr_spec *spec_named(const op *o, const char *name, size_t n)
{
    for (const attr_spec *s = o->attr; s && s->name; s++)
        if (strlen(s->name) == n && !memcmp(s->name, name, n))
            return s;
    return NULL;
}

static void list_names(const op *o, text *t)
{
    for (const attr_spec *s = o->attr; s && s->name; s++)
        text_add(t, "%s%s", s == o->attr ? "" : ", ", s->name);
}

static bool unknown(const op *o, const char *name, int n, err *e)
{
    ENDED_BY(text_free) text t = {0};
    list_names(o, &t);
    return err_set(e, TS_BAD_INPUT, "%s: no attribute \"%.*s\"; it has: %s", o->name, n, name, t.length ? t.s : "none");
}

/* What stands behind a text without quotes belongs to it, most likely: how it is to be written. */
static bool unquoted(const op *o, const attr *before, const char *rest, err *e)
{
    size_t n = strlen(rest);
    for (const char *s = rest; *s; s++)
        if (s[0] == ' ' && spec_named(o, s + 1, strcspn(s + 1, "= ")) && s[1 + strcspn(s + 1, "= ")] == '=')
            n = (size_t)(s - rest), s += strlen(s) - 1;
    err_set(e, TS_BAD_INPUT, "%s: %s=%s is followed by \"%.*s\", which is no attribute", o->name, before->name,
            before->s, (int)n, rest);
    return err_hint(e, "a text with blanks stands in quotes: %s=\"%s %.*s\"", before->name, before->s, (int)n, rest);
}

/* What a specification asks for, in words. */
static const char *kind_name(char kind)
{
    return kind == 'i'   ? "an integer"
           : kind == 'f' ? "a number"
           : kind == 's' ? "a word, or a text in quotes"
                         : "a list like [1,2]";
}

/* out: room for MAX_ATTR; only those given are filled in, in the order of the text. */
bool attr_parse(arena *mem, const op *o, const char *source, attr *out, int *n, err *e)
{
    const char *at = source;
    for (*n = 0;;) {
        at += strspn(at, " ");
        if (!*at)
            return true;
        const size_t length = strcspn(at, "= ");
        const attr_spec *s = spec_named(o, at, length);
        if (!s && *n && out[*n - 1].kind == 's' && at[length] != '=')
            return unquoted(o, &out[*n - 1], at, e);
        if (!s)
            return unknown(o, at, (int)length, e);
        for (int i = 0; i < *n; i++)
            if (out[i].name == s->name)
                return err_set(e, TS_BAD_INPUT, "%s: attribute %s is given twice", o->name, s->name);
        attr *a = &out[*n];
        *a = (attr){.name = s->name, .kind = s->kind};
        const char *value = at + length + 1;
        if (at[length] != '=' || *n == MAX_ATTR || !read_value(mem, &value, a) || (*value && *value != ' '))
            return err_set(e, TS_BAD_INPUT, "%s: attribute %s: \"%.40s\" is not %s", o->name, s->name, at,
                           kind_name(s->kind));
        ++*n, at = value;
    }
}

/* An integer serves where a real is wanted, one number where a list is, and a real one-valued integer where
 * an integer is. */
static bool convert(arena *mem, attr *a, char kind)
{
    if (a->kind == kind)
        return true;
    if (kind == 'f' && a->kind == 'i')
        return a->f = (double)a->i, a->kind = 'f', true;
    if (kind == 'I' && a->kind == 'i') {
        int64_t *v = arena_array(mem, 1, sizeof *v);
        return *v = a->i, a->ints = v, a->n = 1, a->kind = 'I', true;
    }
    return false;
}

/* What an attribute points to is the caller's: a copy lives as long as the node. */
static void own(arena *mem, attr *a)
{
    if (a->kind == 's')
        a->s = arena_string(mem, a->s);
    a->ints = a->kind == 'I' ? arena_joined(mem, a->ints, a->n, NULL, 0, sizeof *a->ints) : NULL;
    a->reals = a->kind == 'F' ? arena_joined(mem, a->reals, a->n, NULL, 0, sizeof *a->reals) : NULL;
}

/* One for each row of the specification, in its order; kind '-' where an optional one is left out. A fallback "own" is
 * filled in by the graph (g_own). */
attr *attr_fill(arena *mem, const op *o, int n, const attr *given, err *e)
{
    int k = 0, total = 0;
    for (const attr_spec *s = o->attr; s && s->name; s++)
        total++;
    attr *out = arena_array(mem, (size_t)total + 1, sizeof *out);
    for (int i = 0; i < n; i++)
        if (!spec_named(o, given[i].name, strlen(given[i].name)))
            return unknown(o, given[i].name, (int)strlen(given[i].name), e), NULL;
    for (const attr_spec *s = o->attr; s && s->name; s++, k++) {
        out[k] = (attr){.name = s->name, .kind = '-'};
        for (int i = 0; i < n; i++)
            if (!strcmp(given[i].name, s->name))
                out[k] = given[i], out[k].name = s->name;
        if (out[k].kind != '-') {
            if (!convert(mem, &out[k], s->kind))
                return err_set(e, TS_BAD_INPUT, "%s: attribute %s is not %s", o->name, s->name, kind_name(s->kind)),
                       NULL;
            own(mem, &out[k]);
        } else if (!s->fallback) {
            return err_set(e, TS_BAD_INPUT, "%s: attribute %s is missing", o->name, s->name), NULL;
        } else if (*s->fallback && strcmp(s->fallback, "own")) {
            const char *at = s->fallback;
            out[k].kind = s->kind;
            MUST(read_value(mem, &at, &out[k]));
        }
    }
    return out;
}

/* In quotes where a blank or a mark of the notation would end it early. */
static void print_text(text *t, const char *s)
{
    const bool plain = *s && !strpbrk(s, " :#\"\\\n");
    text_add(t, plain ? "%s" : "\"", s);
    for (; !plain && *s; s++)
        text_add(t, *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
    text_add(t, plain ? "" : "\"");
}

/* Read back by attr_parse to the same bits. */
void attr_print(text *t, const attr *a)
{
    if (a->kind == '-')
        return;
    text_add(t, " %s=", a->name);
    if (a->kind == 'i')
        text_add(t, "%lld", (long long)a->i);
    else if (a->kind == 'f')
        text_add(t, "%.17g", a->f);
    else if (a->kind == 's')
        print_text(t, a->s);
    else {
        text_add(t, "[");
        for (int i = 0; i < a->n; i++)
            if (a->kind == 'I')
                text_add(t, "%s%lld", i ? "," : "", (long long)a->ints[i]);
            else
                text_add(t, "%s%.17g", i ? "," : "", a->reals[i]);
        text_add(t, "]");
    }
}

/* Reals by bits: 0 and -0 are two attributes, and NaN is itself. */
bool attr_is_axes(const attr *a)
{
    return strcmp(a->name, "axis") == 0 || strcmp(a->name, "axes") == 0;
}

bool attr_same(const attr *a, const attr *b)
{
    if (a->kind != b->kind || a->n != b->n)
        return false;
    if (a->kind == 'i')
        return a->i == b->i;
    if (a->kind == 'f')
        return !memcmp(&a->f, &b->f, sizeof a->f);
    if (a->kind == 's')
        return !strcmp(a->s, b->s);
    if (a->kind == 'I')
        return !memcmp(a->ints, b->ints, (size_t)a->n * sizeof *a->ints);
    return a->kind != 'F' || !memcmp(a->reals, b->reals, (size_t)a->n * sizeof *a->reals);
}

uint64_t attr_hash(const attr *a, uint64_t seed)
{
    switch (a->kind) {
    case 'i': return quick_hash(&a->i, sizeof a->i, seed);
    case 'f': return quick_hash(&a->f, sizeof a->f, seed);
    case 's': return quick_hash(a->s, strlen(a->s), seed);
    case 'I': return quick_hash(a->ints, (size_t)a->n * sizeof *a->ints, seed);
    case 'F': return quick_hash(a->reals, (size_t)a->n * sizeof *a->reals, seed);
    default: return seed + (uint64_t)a->n;
    }
}
