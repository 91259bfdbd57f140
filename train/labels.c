/* labels.c - what stands behind texts: numbers of classes, names of classes, or other numbers. Classes that have names
 * are numbered in the order of their bytes, so that the order of a file's lines says nothing. */
#include "graph/base/base.h"
#include "graph/base/err.h"
#include "train/data_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 10000, MOST_NAME = 200 }; /* classes; bytes of a name */

struct label {
    char *name;
    int64_t id, line, count; /* id: by first appearance */
};

void labels_open(labels *l, const data_want *want)
{
    *l = (labels){.want = want, .learns = want->learns, .named = want->names && *want->names};
}

void labels_close(labels *l)
{
    for (int i = 0; i < l->n; i++)
        free(l->all[i].name);
    free(l->all);
    *l = (labels){0};
}

bool label_number(const rows *r, double v, double *out, ts_error *e)
{
    const int64_t classes = r->want->classes;
    *out = v;
    if (!isfinite(v)) {
        err_set(e, TS_BAD_INPUT, "%s:%lld: the label %g is not finite", r->path, (long long)r->line, v);
        return err_hint(e, "correct the line or leave it out");
    }
    if (r->want->label != LABEL_CLASS)
        return true;
    if (v != floor(v) || v < 0 || v >= 1e6) {
        err_set(e, TS_BAD_INPUT, "%s:%lld: the label %g is not the number of a class", r->path, (long long)r->line, v);
        return err_hint(e, "classes are numbered 0, 1, 2, ..., or have names; --task regress is for other numbers");
    }
    if (!classes || v < (double)classes)
        return true;
    err_set(e, TS_BAD_INPUT, "%s:%lld: the label %g is not in 0...%lld", r->path, (long long)r->line, v,
            (long long)classes - 1);
    return err_hint(e, "correct the line, or say --labels %.0f or more", v + 1);
}

/* Decimal: 0x1 is a name. */
static bool is_number(const char *s, size_t n, double *v)
{
    char copy[64], *end;
    if (n == 0 || n >= sizeof copy)
        return false;
    memcpy(copy, s, n);
    copy[n] = 0;
    errno = 0;
    *v = strtod(copy, &end);
    return end == copy + n && !errno && !strpbrk(copy, "xX");
}

/* Of s among the names: where it is, or, with *there false, where it belongs. */
static int place_of(const labels *l, const char *s, size_t n, bool *there)
{
    int low = 0, high = l->n;
    *there = false;
    while (low < high) {
        const int middle = (low + high) / 2;
        int order = strncmp(l->all[middle].name, s, n);
        order = order ? order : l->all[middle].name[n] != 0;
        if (!order)
            return *there = true, middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool fits_name(const rows *r, const char *s, size_t n, ts_error *e)
{
    uint32_t code;
    if (n > MOST_NAME)
        return row_refuse(r, "the label is too long for a name", e);
    for (size_t i = 0; i < n; i += utf8_next(s + i, &code) + (code == 0))
        if (utf8_next(s + i, &code) && utf8_hidden(code))
            return row_refuse(r, "the label holds a control character", e);
    return true;
}

static bool unknown(const rows *r, const char *s, size_t n, ts_error *e)
{
    err_set(e, TS_BAD_INPUT, "%s:%lld: no class of the run is named \"%.*s\"", r->path, (long long)r->line, (int)n, s);
    ENDED_BY(text_free) text list = {0};
    char name[MOST_NAME + 1];
    for (const char *at = r->want->names; list.length < 300 && line_next(&at, name, sizeof name);)
        text_add(&list, "%s\"%s\"", list.length ? ", " : "", name);
    return err_hint(e, "its classes are %s", text_str(&list));
}

/* A new class gets the next number; sorting comes in labels_end. */
static bool add_name(labels *l, const rows *r, const char *s, size_t n, int64_t *id, ts_error *e)
{
    bool there;
    const int at = place_of(l, s, n, &there);
    if (!there && !fits_name(r, s, n, e))
        return false;
    if (!there && l->n == MOST_NAMES) {
        err_set(e, TS_BAD_INPUT, "%s:%lld: more than %d classes", r->path, (long long)r->line, MOST_NAMES);
        return err_hint(e, "--columns TEXT,LABEL says which column has the labels; --task regress is for numbers");
    }
    if (!there) {
        struct label *more = l->all = reallocarray(l->all, (size_t)l->n + 1, sizeof *more);
        MUST(more);
        memmove(&more[at + 1], &more[at], (size_t)(l->n - at) * sizeof *more);
        more[at] = (struct label){.name = strndup(s, n), .id = l->n, .line = r->line};
        l->n++;
    }
    l->all[at].count++;
    *id = l->all[at].id;
    return true;
}

/* The names of the run, each with its number. */
static bool take_names(labels *l, const rows *r, ts_error *e)
{
    char name[MOST_NAME + 1];
    int64_t id;
    for (const char *at = l->want->names; line_next(&at, name, sizeof name);)
        if (!add_name(l, r, name, strlen(name), &id, e))
            return false;
    return true;
}

static bool mixed(const rows *r, const char *s, size_t n, bool learns, ts_error *e)
{
    err_set(e, TS_BAD_INPUT, "%s:%lld: the label \"%.*s\" is not a number", r->path, (long long)r->line,
            (int)(n < 100 ? n : 100), s);
    return err_hint(e, r->want->label == LABEL_REAL ? "--task classify is for names of classes"
                       : learns                     ? "the labels before it are: correct it, or give all classes names"
                                                    : "the classes of the run are numbers");
}

bool labels_add(labels *l, const rows *r, const char *s, size_t n, double *out, ts_error *e)
{
    double v = 0;
    int64_t id;
    bool there;
    while (n && (*s == ' ' || *s == '\t'))
        s++, n--;
    while (n && (s[n - 1] == ' ' || s[n - 1] == '\r'))
        n--;
    if (!n)
        return row_refuse(r, "the label is missing", e);
    const bool number = is_number(s, n, &v), first = l->learns;
    if (first && !l->named && !number && r->want->label == LABEL_CLASS)
        l->named = true;
    l->learns = false; /* the first one has said it */
    if (!l->named)
        return number ? label_number(r, v, out, e) : mixed(r, s, n, r->want->learns, e);
    if (r->want->learns) {
        if (!add_name(l, r, s, n, &id, e))
            return false;
        *out = (double)id;
        return true;
    }
    if (!l->n && !take_names(l, r, e))
        return false;
    const int at = place_of(l, s, n, &there);
    *out = there ? (double)l->all[at].id : 0;
    return there || unknown(r, s, n, e);
}

/* One in the first line that nothing else is, while all others are often: as of "review,sentiment". */
static bool no_header(const labels *l, const rows *r, ts_error *e)
{
    const struct label *alone = NULL;
    bool others = l->n > 1;
    for (int i = 0; i < l->n; i++)
        if (l->all[i].id == 0)
            alone = &l->all[i];
        else
            others = others && l->all[i].count > 1;
    if (!others || alone->count > 1 || r->n_column > r->n_name || alone->line > 1)
        return true;
    err_set(e, TS_BAD_INPUT, "%s:1: the label \"%s\" stands in no other line: it looks like a header", r->path,
            alone->name);
    return err_hint(e, "--columns TEXT,LABEL names the columns that a header has; an example goes to another line");
}

/* Names in order, and the labels by it. */
static bool number_names(labels *l, const rows *r, data *out, ts_error *e)
{
    text list = {0};
    const int64_t most = r->want->classes;
    ENDED_BY(heap_free) int64_t *to = heap_array((size_t)l->n, sizeof *to);
    for (int i = 0; i < l->n; i++) {
        to[l->all[i].id] = i;
        text_add(&list, "%s\n", l->all[i].name);
    }
    for (int64_t i = 0; i < out->n; i++)
        out->label[i] = (double)to[(int64_t)out->label[i]];
    out->names = text_take(&list);
    if (!most || l->n <= most)
        return true;
    err_set(e, TS_BAD_INPUT, "'%s' has %d classes, --labels is %lld", r->path, l->n, (long long)most);
    return err_hint(e, "correct the labels, or say --labels %d or more", l->n);
}

bool labels_end(labels *l, const rows *r, data *out, ts_error *e)
{
    if (r->want->label != LABEL_CLASS)
        return true;
    if (l->named && r->want->learns && (!no_header(l, r, e) || !number_names(l, r, out, e)))
        return false;
    for (int64_t i = 0; i < out->n; i++)
        if ((int64_t)out->label[i] >= out->classes)
            out->classes = (int64_t)out->label[i] + 1;
    return true;
}
