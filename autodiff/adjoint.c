/* adjoint.c - subscripts turned around. y[i] reads x[s(i)]; so x[p] receives the sum of what every i with s(i) = p
 * sends. Where s is affine, i follows from p: the sum shrinks to the axes that s leaves free, and is a way of reading.
 * Where it is not (a loaded place), every i is asked whether it read p. */
#include "autodiff/autodiff.h"
#include "graph/affine/linear.h"

#include <string.h>

typedef struct solver { /* axes 0..rank-1: x's; then those of y's definition, each in turn replaced or left to fold */
    arena *mem;
    int rank, n_axis;
    int64_t extent[MAX_AXIS];
    bool gone[MAX_AXIS];
    /* when, hit: NULL, or conditions under which the term counts; hit loads, which is right only when `when` holds */
    const expr *sub[MAX_RANK], *term, *when, *hit;
    err *e;
} solver;

static bool add_axis(solver *s, int64_t extent, int *axis)
{
    if (s->n_axis == MAX_AXIS)
        return err_set(s->e, TS_UNSUPPORTED, "its gradient needs %d axes or more, at most %d expected", s->n_axis + 1,
                       MAX_AXIS);
    s->extent[s->n_axis] = extent;
    return *axis = s->n_axis++, true;
}

static const expr *put(solver *s, const expr *x, int axis, const expr *to)
{
    const expr *map[MAX_AXIS] = {0};
    map[axis] = to;
    return x ? x_tidy(s->mem, x_rename(s->mem, x, MAX_AXIS, map), s->extent) : NULL;
}

/* axis := to everywhere. */
static void bind(solver *s, int axis, const expr *to)
{
    s->term = put(s, s->term, axis, to), s->when = put(s, s->when, axis, to);
    s->hit = put(s, s->hit, axis, to);
    for (int i = 0; i < s->rank; i++)
        s->sub[i] = put(s, s->sub[i], axis, to);
    s->gone[axis] = true;
}

static void require(solver *s, const expr *condition)
{
    condition = x_tidy(s->mem, condition, s->extent);
    const expr **to = x_count(condition, X_LOAD) ? &s->hit : &s->when;
    bool holds;
    if (!x_settled(condition, &holds) || !holds)
        *to = x_both(s->mem, *to, condition);
}

static void require_within(solver *s, const expr *x, int64_t extent)
{
    require(s, x2(s->mem, "le", x_whole(s->mem, 0), x));
    require(s, x2(s->mem, "lt", x, x_whole(s->mem, extent)));
}

static bool is_free(const solver *s, const expr *x) /* an axis of y that is not bound yet */
{
    return x->kind == X_AXIS && x->axis >= s->rank && !s->gone[x->axis];
}

/* ---- floordiv(j, n) and mod(j, n): j becomes q * n + r ---- */
static const expr *find_split(const solver *s, const expr *x)
{
    if ((x_is_call(x, "floordiv") || x_is_call(x, "mod")) && is_free(s, x->arg[0]) && x->arg[1]->kind == X_LIT &&
        x->arg[1]->whole > 0)
        return x;
    for (int i = 0; i < x->n && x->kind != X_LOAD; i++) {
        const expr *found = find_split(s, x->arg[i]);
        if (found)
            return found;
    }
    return NULL;
}

static bool split_axes(solver *s)
{
    for (int i = 0; i < s->rank; i++) {
        const expr *x;
        while ((x = find_split(s, s->sub[i]))) {
            const int axis = x->arg[0]->axis;
            const int64_t n = x->arg[1]->whole, extent = s->extent[axis];
            int q = 0, r = 0;
            if (!add_axis(s, (extent + n - 1) / n, &q) || !add_axis(s, n, &r))
                return false;
            const expr *to = x2(s->mem, "add", x2(s->mem, "mul", x_axis(s->mem, q), x_whole(s->mem, n)),
                                x_axis(s->mem, r));
            bind(s, axis, to);
            require(s, x2(s->mem, "lt", to, x_whole(s->mem, extent)));
        }
    }
    return true;
}

/* ---- one dimension: p = s(i) ---- */
/* All terms are free axes, counted like digits: 1 * j + 7 * k + 21 * l with extents 7, 3, ... */
static bool bind_digits(solver *s, int dim, const linear *l)
{
    int order[MAX_TERM];
    if (!l->n)
        return false;
    for (int i = 0; i < l->n; i++) {
        int k = i;
        for (; k > 0 && l->by[order[k - 1]] > l->by[i]; k--)
            order[k] = order[k - 1];
        order[k] = i;
        if (!is_free(s, l->atom[i]) || l->by[i] < 1)
            return false;
    }
    for (int i = 1; i < l->n; i++)
        if (l->by[order[i]] != l->by[order[i - 1]] * s->extent[l->atom[order[i - 1]]->axis])
            return false;
    const expr *rest = x2(s->mem, "sub", x_axis(s->mem, dim), x_whole(s->mem, l->plus));
    const int64_t unit = l->by[order[0]];
    if (unit > 1)
        require(s, x2(s->mem, "eq", x2(s->mem, "mod", rest, x_whole(s->mem, unit)), x_whole(s->mem, 0)));
    for (int i = 0; i < l->n; i++) {
        const int axis = l->atom[order[i]]->axis;
        const expr *v = x2(s->mem, "floordiv", rest, x_whole(s->mem, l->by[order[i]]));
        if (i + 1 < l->n)
            v = x2(s->mem, "mod", v, x_whole(s->mem, s->extent[axis]));
        else
            require_within(s, v, s->extent[axis]);
        bind(s, axis, x_tidy(s->mem, v, s->extent));
    }
    return true;
}

/* The longest free axis that occurs once, alone: axis = (p - rest) / by. */
static int longest(const solver *s, const linear *l)
{
    int best = -1;
    for (int i = 0; i < l->n; i++) {
        bool alone = is_free(s, l->atom[i]);
        for (int k = 0; alone && k < l->n; k++)
            alone = k == i || !(x_axes(l->atom[k]) >> l->atom[i]->axis & 1);
        if (alone && (best < 0 || s->extent[l->atom[i]->axis] > s->extent[l->atom[best]->axis]))
            best = i;
    }
    return best;
}

static void bind_longest(solver *s, int dim, const linear *l, int i)
{
    const linear place = {.n = 1, .by = {1}, .atom = {x_axis(s->mem, dim)}};
    const int axis = l->atom[i]->axis;
    int64_t by = l->by[i];
    linear rest = *l;
    MUST(linear_add(l, -by, &(linear){.n = 1, .by = {1}, .atom = {l->atom[i]}}, &rest));
    MUST(linear_add(&place, -1, &rest, &rest));
    if (by < 0) {
        MUST(linear_add(&(linear){0}, -1, &rest, &rest));
        by = -by;
    }
    const expr *v = linear_expr(s->mem, &rest);
    if (by > 1) {
        require(s, x2(s->mem, "eq", x2(s->mem, "mod", v, x_whole(s->mem, by)), x_whole(s->mem, 0)));
        v = x2(s->mem, "floordiv", v, x_whole(s->mem, by));
    }
    require_within(s, v, s->extent[axis]);
    bind(s, axis, v);
}

/* All loads are still at places that are there, as far as extents say so. */
static bool stays_inside(const solver *s, const expr *x)
{
    bool ok = true;
    for (int i = 0; i < x->n && ok; i++) {
        const range r = x->kind == X_LOAD ? x_range(x->arg[i], s->extent) : (range){0};
        ok = stays_inside(s, x->arg[i]) && (!r.known || (r.low >= 0 && r.high < x->from->type.dim[i]));
    }
    return ok;
}

/* What else asks for this place, as a padding does, names it as the result does: but for neighbours of every other
 * place, which the last one does not have. */
static void name_place(solver *s, const expr *was, const expr *place)
{
    const expr *term = x_tidy(s->mem, x_replace(s->mem, s->term, was, place), s->extent);
    if (stays_inside(s, term) || !stays_inside(s, s->term))
        s->term = term;
}

static void solve(solver *s, int dim)
{
    linear l;
    const expr *place = x_axis(s->mem, dim), *was = s->sub[dim];
    if (linear_of(was, &l)) {
        if (l.n == 0 && s->extent[dim] == 1)
            return;
        const int i = longest(s, &l);
        if (l.n && x_count(was, X_LOAD) == 0 && was->kind != X_AXIS)
            name_place(s, was, place);
        if (bind_digits(s, dim, &l))
            return;
        if (i >= 0) {
            bind_longest(s, dim, &l, i);
            return;
        }
    }
    require(s, x2(s->mem, "eq", place, was));
}

/* ---- the whole ---- */
static bool begin(solver *s, const defn *d, const expr *load, const expr *term)
{
    const expr *moved[MAX_AXIS] = {0};
    if (s->rank + d->n_axis > MAX_AXIS)
        return err_set(s->e, TS_UNSUPPORTED, "its gradient needs %d axes, at most %d expected", s->rank + d->n_axis,
                       MAX_AXIS);
    for (int i = 0; i < s->rank; i++)
        s->extent[i] = load->from->type.dim[i];
    s->n_axis = s->rank + d->n_axis;
    for (int i = 0; i < d->n_axis; i++) {
        s->extent[s->rank + i] = d->extent[i];
        moved[i] = d->extent[i] == 1 ? x_cast(s->mem, TS_I64, x_whole(s->mem, 0)) : x_axis(s->mem, s->rank + i);
        s->gone[s->rank + i] = d->extent[i] == 1;
    }
    s->term = x_tidy(s->mem, x_rename(s->mem, term, d->n_axis, moved), s->extent);
    for (int i = 0; i < s->rank; i++)
        s->sub[i] = x_tidy(s->mem, x_rename(s->mem, load->arg[i], d->n_axis, moved), s->extent);
    return true;
}

bool adjoint_sum(const defn *d, const expr *load, const expr *term, sum *out, err *e)
{
    solver s = {.mem = d->mem, .rank = load->n, .e = e};
    const expr *map[MAX_AXIS] = {0};
    if (!begin(&s, d, load, term) || !split_axes(&s))
        return false;
    bool solved[MAX_RANK] = {0};
    for (int pass = 0; pass < 2; pass++) /* the simple dimensions first: their axes are known in the others */
        for (int i = 0; i < s.rank; i++)
            if (!solved[i] && (pass || is_free(&s, s.sub[i])))
                solve(&s, i), solved[i] = true;
    *out = (sum){.rank = s.rank, .n_axis = s.rank, .fold = "add"};
    memcpy(out->extent, s.extent, (size_t)s.rank * sizeof *s.extent);
    for (int i = s.rank; i < s.n_axis; i++)
        if (!s.gone[i])
            out->source[out->n_axis] = i < s.rank + d->n_axis ? i - s.rank : -1, map[i] = x_axis(s.mem, out->n_axis),
            out->extent[out->n_axis++] = s.extent[i];
    const expr *zero = x_whole(s.mem, 0), *x = s.term;
    x = s.hit ? x3(s.mem, "select", s.hit, x, zero) : x;
    x = s.when ? x_tidy(s.mem, x3(s.mem, "select", s.when, x, zero), s.extent) : x;
    out->value = x_rename(s.mem, x, MAX_AXIS, map);
    return true;
}

const node *stand_in(graph *g, const type *t, const char *what)
{
    return g_input(g, arena_format(&g->mem, "autodiff.%s%d", what, g->n), t, NULL);
}

const node *emit_sum(graph *g, const sum *s)
{
    return emit_spelled(g, &(spelling){s->rank, s->n_axis - s->rank, s->extent, s->fold, NULL}, s->value);
}

const node *emit_fold(graph *g, const defn *d, int rank, const char *fold, const expr *value)
{
    return emit_spelled(g, &(spelling){rank, d->n_axis - rank, d->extent, fold, NULL}, value);
}
