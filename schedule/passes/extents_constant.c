/* extents_constant.c - constants of two graphs: of which there is a part at another extent, or more by a number. */
#include "graph/ir/rule.h"
#include "schedule/passes/extents_pair.h"

#include <math.h>
#include <string.h>

enum { MOST_EACH = 16 }; /* elements of a constant that have sums of their own: shapes of shapes are not longer */

/* Reals that are whole numbers, as positions that were cast, and exact in f32, their sums too */
static bool whole_at(dtype d, const char *at, int64_t i, int64_t *out)
{
    const bool real = d == TS_F32 || d == TS_F64;
    const double v = real ? load_real(d, at, i) : 0;
    const bool whole = real ? fabs(v) < 0x1p23 && floor(v) == v : dtype_class(d) == D_WHOLE;
    *out = !whole ? 0 : real ? (int64_t)v : load_whole(d, at, i);
    return whole;
}

/* Zeros of either sign are equal: masks multiply by 0, and -3e38 * 0 is -0. */
static bool row_apart(dtype d, int64_t n, const char *here, const char *there, int64_t *by)
{
    if ((!*by || *by == INT64_MIN) && !memcmp(here, there, (size_t)n * (size_t)ts_dtype_bytes(d)))
        return *by = 0, true;
    for (int64_t i = 0; i < n; i++) {
        int64_t a = 0, b = 0;
        if ((dtype_class(d) != D_REAL || load_real(d, here, i) != load_real(d, there, i)) &&
            (!whole_at(d, here, i, &a) || !whole_at(d, there, i, &b)))
            return false;
        if (*by != INT64_MIN && *by != b - a)
            return false;
        *by = b - a;
    }
    return true;
}

bool pairing_apart(const node *a, const char *here, const node *b, const char *there, uint32_t ends, int64_t *by)
{
    const type *all = &a->type, *part = &b->type;
    const int rank = all->rank, bytes = ts_dtype_bytes(all->dtype);
    const int64_t row = rank ? part->dim[rank - 1] : 1;
    int64_t at[MAX_RANK] = {0}, rows = row ? type_count(part) / row : 0;
    bool same = true;
    for (*by = INT64_MIN; same && rows > 0; rows--, there += row * bytes) {
        int64_t from = 0;
        for (int i = 0; i < rank; i++)
            from = from * all->dim[i] + at[i] + (ends >> i & 1 ? all->dim[i] - part->dim[i] : 0);
        same = row_apart(all->dtype, row, here + from * bytes, there, by);
        for (int d = rank - 2; d >= 0 && ++at[d] == part->dim[d]; d--)
            at[d] = 0;
    }
    *by = *by == INT64_MIN ? 0 : *by;
    return same;
}

int64_t aligned_more(const aligned *a, int64_t at, const int64_t *size)
{
    const varying *v = a->each ? &a->each[at] : &a->shift;
    return v->by ? extents_at(v, size) : 0;
}

/* The same with a difference of its own for each element: results of `Shape` hold extents beside constants. */
static bool apart_each(pairing *q, aligned *out, const node *a, const node *b)
{
    const int64_t n = type_count(&a->type);
    bool same = type_equal(&a->type, &b->type) && n <= MOST_EACH && !out->decided;
    if (same && !out->each) {
        out->each = arena_array(&q->mem, MOST_EACH, sizeof *out->each);
        for (int i = 0; i < MOST_EACH; i++)
            out->each[i] = out->shift;
        out->shift = (varying){.per = 1};
    }
    for (int64_t i = 0; same && i < n; i++) {
        int64_t here, there;
        same = whole_at(a->type.dtype, a->leaf->data, i, &here) && whole_at(b->type.dtype, b->leaf->data, i, &there) &&
               pairing_number(q, &out->each[i], 0, there - here);
    }
    return same;
}

bool pairing_align(pairing *q, const node *a, const node *b)
{
    aligned *out = &q->aligned[a->id];
    if (out->each)
        return apart_each(q, out, a, b) || pairing_refuse(q, a, "has other values at another extent");
    const void *here = a->leaf->data, *there = b->leaf->data;
    const int64_t more = extents_at(&out->shift, q->of->size);
    const bool one = type_equal(&a->type, &b->type) && here == there && !more;
    uint32_t open = 0, ends = 0;
    int64_t by;
    for (int d = 0; d < a->type.rank; d++)
        open |= a->type.dim[d] != b->type.dim[d] ? 1u << d & ~out->decided : 0;
    do { /* all subsets of open, the empty one first */
        if (one || (pairing_apart(a, here, b, there, ends | out->ends, &by) && by == more))
            return out->ends |= ends, out->decided |= open, true;
        ends = (ends - open) & open;
    } while (ends); /* positions that count on from what was kept: all of them are more */
    const varying was = out->shift;
    return (pairing_apart(a, here, b, there, out->ends, &by) && pairing_number(q, &out->shift, 0, by)) ||
           (out->shift = was, apart_each(q, out, a, b)) || pairing_refuse(q, a, "has other values at another extent");
}

/* The difference of the element that x loads: a choice by its place in the table. */
static const expr *more_at(pairing *q, const varying *each, const expr *x)
{
    const expr *place = x_whole(&q->mem, 0), *more = place;
    for (int i = 0; i < x->n; i++)
        place = x2(&q->mem, "add", x2(&q->mem, "mul", place, x_whole(&q->mem, x->from->type.dim[i])), x->arg[i]);
    for (int64_t i = type_count(&x->from->type) - 1; i >= 0; i--)
        if (each[i].by)
            more = x3(&q->mem, "select", x2(&q->mem, "eq", place, x_whole(&q->mem, i)), extents_expr(&q->mem, &each[i]),
                      more);
    return more;
}

const expr *pairing_in_whole(void *user, const expr *x)
{
    pairing *q = user;
    const aligned *piece = x->kind == X_LOAD ? &q->aligned[x->from->id] : NULL;
    const expr *arg[MAX_RANK];
    if (piece && piece->each)
        return x2(&q->mem, "add", x, x_cast(&q->mem, x->dtype, more_at(q, piece->each, x)));
    if (!piece || (!piece->ends && !piece->shift.by))
        return x;
    for (int i = 0; i < x->n; i++) {
        const varying v = extents_of(q->p, x->from, i);
        const expr *whole = x_whole(&q->mem, x->from->type.dim[i]);
        arg[i] = !(piece->ends >> i & 1)
                     ? x->arg[i]
                     : x2(&q->mem, "add", x->arg[i], x2(&q->mem, "sub", whole, extents_expr(&q->mem, &v)));
    }
    const expr *now = x_again(&q->mem, x, arg);
    return piece->shift.by ? x2(&q->mem, "add", now, x_cast(&q->mem, x->dtype, extents_expr(&q->mem, &piece->shift)))
                           : now;
}

/* ---- constants that are read as they lie ---- */
/* Of which other extents have the last elements, or others: what reads one whole, as trips do their rows, has no places
 * to say so. */
static bool lies_otherwise(const pairing *q, const node *n)
{
    const aligned *a = &q->aligned[n->id];
    return n->leaf && n->leaf->data && (a->ends || a->each || a->shift.by);
}

static bool reads_whole(const pairing *q, const node *n)
{
    const expr *x = q->form[n->id];
    return n->trip || (x && x_alone(x) && !x_folds(x));
}

/* The first that does; done: the constants, by id */
static const node *find_whole(const pairing *q, bool *done)
{
    const node *first = NULL;
    for (int i = 0; i < q->n_met; i++)
        for (int k = 0; k < q->met[i]->n_in && reads_whole(q, q->met[i]); k++)
            if (lies_otherwise(q, q->met[i]->in[k]))
                done[q->met[i]->in[k]->id] = true, first = first ? first : q->met[i];
    return first;
}

typedef struct search {
    plan *p;
    bool *done;
} search;

static const node *made_again(const plan *p, graph *g, const node *n)
{
    (void)p;
    return g_rematerialized(g, n);
}

static const node *made_where_done(void *user, const node *old, const node *now)
{
    const search *s = user;
    return s->done[old->id] ? g_rematerialized(s->p->g, now) : now;
}

/* They are computed where they are read: elements have places. */
bool extents_constants(plan *p, err *e)
{
    search s = {p, arena_array(&p->mem, (size_t)p->g->n + 1, sizeof *s.done)};
    const node **root = arena_array(&p->mem, (size_t)p->n_root + 1, sizeof *root),
               *reader = find_whole(p->paired, s.done);
    if (!reader)
        return true;
    if (!g_rewrite(p->g, p->n_root, p->root, made_where_done, &s, root))
        return err_set(e, p->g->err.code, "%s", p->g->err.text);
    if (extents_rewrite(p, &(extents_rewriting){root, s.done, made_again}) && !find_whole(p->paired, s.done))
        return p->root = root, true;
    p->paired->e = e;
    return pairing_refuse(p->paired, reader, "reads, all at once, a constant that is counted from its end");
}
