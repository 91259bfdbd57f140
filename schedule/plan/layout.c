/* layout.c - digits: offsets as forms, packing, text. */
#include "schedule/plan/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool layout_digit(layout *y, int dim, int64_t step, int64_t span)
{
    if (y->n == MAX_DIGIT)
        return false;
    y->digit[y->n++] = (digit){dim, step, span, 0};
    return true;
}

bool layout_seal(layout *y, const type *t)
{
    int64_t left[MAX_RANK];
    memcpy(left, t->dim, sizeof left);
    for (int i = 0; i < y->n; i++)
        left[y->digit[i].dim] = y->digit[i].step;
    for (int d = 0; d < t->rank; d++)
        if (left[d] > 1)
            return false;
    for (int i = 0; i + 1 < y->n;) { /* k/4 k is k */
        digit *a = &y->digit[i], *b = a + 1;
        if (a->dim != b->dim || a->step != b->span)
            i++;
        else {
            a->step = b->step;
            memmove(b, b + 1, (size_t)(--y->n - i - 1) * sizeof *b);
        }
    }
    y->size = 1;
    for (int i = y->n; i-- > 0;) {
        digit *g = &y->digit[i];
        g->stride = y->size;
        y->size *= (g->span + g->step - 1) / g->step;
    }
    return true;
}

void layout_rows(layout *y, const type *t)
{
    y->n = 0;
    for (int d = 0; d < t->rank; d++)
        layout_digit(y, d, 1, t->dim[d]);
    MUST(layout_seal(y, t));
}

int64_t layout_place(const layout *y, const int64_t *subscript)
{
    int64_t rest[MAX_RANK], place = 0;
    memcpy(rest, subscript, sizeof rest);
    for (int i = 0; i < y->n; i++) {
        const digit *g = &y->digit[i];
        place += rest[g->dim] / g->step * g->stride;
        rest[g->dim] %= g->step;
    }
    return place;
}

bool layout_in_blocks(const layout *y)
{
    for (int i = 0; i < y->n; i++)
        if (y->digit[i].step > 1)
            return true;
    return false;
}

bool layout_same(const layout *a, const layout *b)
{
    if (a->n != b->n)
        return false;
    for (int i = 0; i < a->n; i++) {
        const digit *p = &a->digit[i], *q = &b->digit[i];
        if (p->dim != q->dim || p->step != q->step || p->span != q->span || p->stride != q->stride)
            return false;
    }
    return true;
}

bool layout_is_rows(const layout *y, const type *t)
{
    layout rows;
    layout_rows(&rows, t);
    return layout_same(y, &rows);
}

const affine *layout_offset(space *s, const layout *y, const affine *const *subscript)
{
    const affine *sum = affine_const(s, 0), *left[MAX_RANK] = {0};
    for (int i = 0; i < y->n; i++) {
        const digit *g = &y->digit[i];
        const affine *a = left[g->dim] ? left[g->dim] : subscript[g->dim];
        sum = affine_add(s, sum, affine_div(s, a, g->step), g->stride);
        /* Steps need not divide each other: of what is left, not of the subscript */
        left[g->dim] = affine_mod(s, a, g->step);
    }
    return sum;
}

/* ---- text ---- */
static bool read_step(const char **at, int64_t by_name, int64_t *out) /* from the slash on */
{
    static const char tile[] = "/tile";
    const size_t n = strcspn(*at, " ");
    char *end;
    if (n == strlen(tile) && !memcmp(*at, tile, n))
        return *at += n, (*out = by_name) > 0;
    *out = strtoll(*at + 1, &end, 10);
    const bool ok = end > *at + 1 && *out > 0;
    return *at = end, ok;
}

/* ---- dimensions without a letter: d0, d1, ... ---- */
typedef struct dimension_name {
    char s[8];
} dimension_name;

static dimension_name number_of(int d)
{
    dimension_name n;
    snprintf(n.s, sizeof n.s, "d%d", d);
    return n;
}

static int numbered(const char *name, size_t n, int rank) /* -1: it is none */
{
    int d = 0;
    while (d < rank && !word_is(number_of(d).s, name, n))
        d++;
    return d < rank ? d : -1;
}

static bool no_dimension(const type *t, const char *const *letter, const char *source, const char *at, size_t n, err *e)
{
    ENDED_BY(text_free) text all = {0};
    for (int d = 0; d < t->rank; d++)
        if (t->dim[d] != 1)
            text_add(&all, "%s%s", all.length ? " " : "", *letter[d] ? letter[d] : number_of(d).s);
    err_set(e, TS_BAD_INPUT, "layout \"%s\": the tensor has no dimension %.*s", source, (int)n, at);
    return err_hint(e, "its dimensions are: %s", text_str(&all));
}

/* Steps of a letter from dimension d on: of several that have it, as of one that was made of them (letter NULL: of d
 * alone). One block is as one clipped trip of a loop; a step beyond the last of them is of whole ones. */
static bool put_steps(layout *y, const type *t, const char *const *letter, int d, int64_t step, int64_t *left)
{
    for (int at = d; at < (letter ? t->rank : d + 1); at++) {
        int64_t inner = 1;
        for (int i = at + 1; letter && i < t->rank; i++)
            inner *= strcmp(letter[i], letter[d]) != 0 ? 1 : t->dim[i];
        if (letter && strcmp(letter[at], letter[d]) != 0)
            continue;
        int64_t own = step > inner ? step / inner : 1;
        if (own >= left[at] && own > 1)
            own = left[at] > 0 ? left[at] : 1;
        if ((step >= inner || left[at] > 1) && !layout_digit(y, at, own, left[at]))
            return false;
        left[at] = own;
        if (step >= inner)
            break;
    }
    return true;
}

static bool is_whole(const type *t, const char *const *letter, int d, int64_t step) /* of what is inside of it */
{
    int64_t inner = 1;
    for (int i = t->rank - 1; i > d; i--) {
        inner *= strcmp(letter[i], letter[d]) != 0 ? 1 : t->dim[i];
        if (step > inner && step % inner)
            return false;
    }
    return true;
}

bool layout_parse(layout *y, const type *t, const char *const *letter, const int64_t *tile, const char *source, err *e)
{
    int64_t left[MAX_RANK];
    const char *at = source;
    y->n = 0;
    memcpy(left, t->dim, sizeof left);
    for (at += strspn(at, " "); *at; at += strspn(at, " ")) {
        const size_t n = strcspn(at, "/ ");
        const char *name = at;
        int d = n ? 0 : t->rank;
        while (d < t->rank && !word_is(letter[d], at, n))
            d++;
        const bool named = d < t->rank;
        if (!named && (d = numbered(at, n, t->rank)) < 0)
            return no_dimension(t, letter, source, at, n, e);
        int64_t step = 1;
        at += n;
        if (*at == '/' && !read_step(&at, tile ? tile[d] : 0, &step))
            return err_set(e, TS_BAD_INPUT, "layout \"%s\": a step >= 1 expected after %.*s/", source, (int)n, name);
        if (named && step > 1 && !is_whole(t, letter, d, step))
            return err_set(e, TS_BAD_INPUT,
                           "layout \"%s\": %.*s is of several dimensions, whose steps are less than "
                           "the last or a multiple of it",
                           source, (int)n, name);
        if (!put_steps(y, t, named ? letter : NULL, d, step, left))
            return err_set(e, TS_BAD_INPUT, "layout \"%s\": %d digits or more, at most %d expected", source,
                           MAX_DIGIT + 1, MAX_DIGIT);
    }
    for (int d = 0; d < t->rank; d++)
        if (left[d] > 1)
            return err_set(e, TS_BAD_INPUT, "layout \"%s\": %s never reaches step 1", source,
                           *letter[d] ? letter[d] : number_of(d).s);
    return layout_seal(y, t);
}

void layout_print(text *t, const layout *y, const char *const *letter)
{
    for (int i = 0; i < y->n; i++) {
        text_add(t, "%s%s", i ? " " : "", letter[y->digit[i].dim]);
        if (y->digit[i].step > 1)
            text_add(t, "/%lld", (long long)y->digit[i].step);
    }
}

/* ---- packing ---- */
typedef struct packing {
    const layout *y;
    const type *t;
    int64_t source[MAX_RANK]; /* row-major strides */
    size_t width;
    unsigned char *to;
    const unsigned char *from;
} packing;

static void pack_run(const packing *p, int i, int64_t at, const int64_t *index) /* the innermost digit */
{
    const digit *g = &p->y->digit[i];
    const int64_t n = (g->span + g->step - 1) / g->step, extent = p->t->dim[g->dim], start = index[g->dim];
    int64_t from = 0, have = (extent - start + g->step - 1) / g->step;
    for (int d = 0; d < p->t->rank; d++) {
        if (index[d] >= p->t->dim[d])
            have = 0;
        from += index[d] * p->source[d];
    }
    have = have < 0 ? 0 : have > n ? n : have;
    const int64_t stride = g->step * p->source[g->dim];
    unsigned char *to = p->to + (size_t)at * p->width;
    const unsigned char *s = p->from + (size_t)from * p->width;
    if (stride == 1)
        memcpy(to, s, (size_t)have * p->width);
    else if (p->width == 4)
        for (int64_t k = 0; k < have; k++)
            memcpy(to + 4 * k, s + 4 * stride * k, 4);
    else
        for (int64_t k = 0; k < have; k++)
            memcpy(to + p->width * (size_t)k, s + p->width * (size_t)(stride * k), p->width);
    if (have < n)
        memset(to + (size_t)have * p->width, 0, (size_t)(n - have) * p->width);
}

static void pack_from(const packing *p, int i, int64_t at, int64_t *index, int64_t first, int64_t end)
{
    const digit *g = &p->y->digit[i];
    if (i == p->y->n - 1 && i > 0) {
        pack_run(p, i, at, index);
        return;
    }
    const int64_t was = index[g->dim];
    for (int64_t k = first; k < end; k++) {
        index[g->dim] = was + k * g->step;
        const digit *inner = i + 1 < p->y->n ? g + 1 : NULL;
        if (inner)
            pack_from(p, i + 1, at + k * g->stride, index, 0, (inner->span + inner->step - 1) / inner->step);
        else
            memcpy(p->to + (size_t)(at + k * g->stride) * p->width,
                   p->from + (size_t)(index[g->dim] * p->source[g->dim]) * p->width, p->width);
    }
    index[g->dim] = was;
}

void layout_pack(const layout *y, const type *t, void *to, const void *from, int part, int parts)
{
    packing p = {.y = y, .t = t, .width = (size_t)ts_dtype_bytes(t->dtype), .to = to, .from = from};
    int64_t index[MAX_RANK] = {0}, stride = 1;
    for (int d = t->rank; d-- > 0;)
        p.source[d] = stride, stride *= t->dim[d];
    if (stride && !y->n && !part)
        memcpy(to, from, p.width);
    if (!stride || !y->n)
        return;
    const digit *g = &y->digit[0];
    const int64_t n = (g->span + g->step - 1) / g->step;
    pack_from(&p, 0, 0, index, n * part / parts, n * (part + 1) / parts);
}
