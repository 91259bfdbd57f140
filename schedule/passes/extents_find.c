/* extents_find.c - the pass that finds which extents follow variables. The graph stands at the bound of each; beside it
 * are the same model's at other extents: for each variable some where it alone is less, and one where all are. All are
 * walked together from the results down. A node is the same for every extent where the expression of its element is the
 * same in all of them, and only extents of axes and whole numbers in it differ, by a sum of multiples of the variables:
 * in the expression such a number becomes that sum. A constant of which there is less in another graph must begin as it
 * does there (positions, causal masks). The first node of which this does not hold is named.
 *
 * Requires: a graph at the bounds. Guarantees: plan.varies, plan.sized; what is computed of the first elements along
 * varying dimensions is what the graph at these extents computes, if sums over varying axes end where these do. */
#include "graph/affine/linear.h"
#include "graph/ir/rule.h"
#include "graph/ir/trip.h"
#include "schedule/passes/extents_pair.h"
#include "schedule/passes/passes.h"

#include <math.h>
#include <string.h>

typedef long long ll;
/* ---- what is refused ---- */
static int differs(const pairing *q, int k) /* the first variable that is another one there */
{
    int v = 0;
    while (v + 1 < q->p->n_variable && q->of[k]->size[v] == q->p->variable[v].high)
        v++;
    return v;
}

static bool alone(const pairing *q, int k) /* and the only one */
{
    int n = 0;
    for (int v = 0; v < q->p->n_variable; v++)
        n += q->of[k]->size[v] != q->p->variable[v].high;
    return n == 1;
}

static const node *scan_of(const node *n) /* that it is, or a result of; NULL: neither */
{
    return n->trip ? n : n->n_in == 1 && n->in[0]->trip ? n->in[0] : NULL;
}

/* "matmul "y"", or of what has no name "iterate of gru "y"": the recipe that it is a part of, and who reads it */
static const char *called(pairing *q, const node *n)
{
    const group *of = g_group_of(q->p->g, n);
    const node *named = n, *scan = scan_of(n);
    const char *what = (scan ? scan : n)->op->name;
    if (*n->label)
        return arena_format(&q->mem, "%s \"%s\"", what, n->label);
    while (named && !*named->label)
        named = q->reader[named->id];
    return !of && !named ? what
           : named
               ? arena_format(&q->mem, "%s of %s%s\"%s\"", what, of ? of->op->name : "", of ? " " : "", named->label)
               : arena_format(&q->mem, "%s of %s", what, of->op->name);
}

bool pairing_refuse(pairing *q, int k, const node *n, const char *why)
{
    const char *name = q->p->variable[differs(q, k)].name;
    err_set(q->e, TS_UNSUPPORTED, "dimension \"%s\" cannot vary from run to run: %s %s", name, called(q, n), why);
    return err_hint(q->e, "give it one extent: --dim %s=N", name);
}

/* How many trips a scan makes is a number of its plan. */
bool pairing_trips(pairing *q, const node *a, const node *const *b)
{
    const node *scan = scan_of(a);
    for (int k = 0; scan && k < q->n; k++) {
        const ll here = scan_form_of(scan).trips;
        const node *other = scan_of(b[k]);
        if (other && scan_form_of(other).trips == here)
            continue;
        const char *there = other ? arena_format(&q->mem, "of %lld", (ll)scan_form_of(other).trips) : "written out";
        pairing_refuse(
            q, k, a,
            arena_format(&q->mem,
                         "is a loop of %lld trips, and %s at another extent: trips are counted when a plan is made",
                         here, there));
        return err_hint(q->e, "or say by an input how many of them count: sequence_lens of recurrent operators, the "
                              "count of Loop");
    }
    return true;
}

/* ---- numbers ---- */
/* The sum of multiples of variables that is `here` at their bounds and there[k] in graph k. -1: there is one; else a
 * graph that has another number. */
static int fit(const pairing *q, int64_t here, const int64_t *there, varying *out)
{
    *out = (varying){.plus = here, .per = 1};
    for (int k = 0; k < q->n; k++) {
        const int v = differs(q, k);
        const int64_t apart = q->p->variable[v].high - q->of[k]->size[v], rise = here - there[k];
        const int64_t gcd = int_gcd(rise < 0 ? -rise : rise, apart);
        if (out->by >> v & 1 || !rise || !alone(q, k))
            continue;
        if (apart != gcd && !q->parts)
            return k;
        out->by |= 1u << v, out->times[v] = rise / gcd, out->per = apart / gcd;
        out->plus = out->plus * out->per - out->times[v] * q->p->variable[v].high + out->per - 1;
    }
    for (int k = 0; k < q->n; k++)
        if (extents_at(out, q->of[k]->size) != there[k])
            return k;
    return -1;
}

static bool rises(const pairing *q, const varying *v)
{
    bool all = true;
    for (int i = 0; i < q->p->n_variable; i++)
        all = all && v->times[i] >= 0;
    return all;
}

bool pairing_refuse_extent(pairing *q, int k, const node *n, int64_t here, int64_t there)
{
    const variable *v = &q->p->variable[differs(q, k)];
    if (!alone(q, k))
        return pairing_refuse(q, k, n,
                              arena_format(&q->mem,
                                           "has an extent of %lld, and of %lld where all dimensions are least: "
                                           "that is no sum of multiples of them",
                                           (ll)here, (ll)there));
    pairing_refuse(q, k, n,
                   arena_format(&q->mem, "has an extent of %lld where that is %lld, and of %lld where it is %lld",
                                (ll)here, (ll)(v->high * v->step), (ll)there,
                                (ll)(q->of[k]->size[differs(q, k)] * v->step)));
    if (q->of[k]->size[differs(q, k)] == v->low)
        return err_hint(q->e, "or a range that begins later: --dim %s=LOW..HIGH", v->name);
    return v->step > 1 ? false : err_hint(q->e, "or steps in which it varies: --dim %s=LOW..HIGH/STEP", v->name);
}

static bool follow(pairing *q, const node *n, int axis, int64_t here, const int64_t *there)
{
    varying v, **of = &q->p->varies[n->id];
    const int k = fit(q, here, there, &v);
    if (k >= 0)
        return pairing_refuse_extent(q, k, n, here, there[k]);
    if (!rises(q, &v))
        return pairing_refuse(q, 0, n, "has an extent that shrinks as it grows");
    if (v.by && !*of)
        *of = arena_array(&q->p->mem, MAX_AXIS, sizeof **of);
    if (v.by)
        (*of)[axis] = v;
    return true;
}

/* ---- constants ---- */
/* Calls f for each row along the last dimension of b: with its elements, and those that stand there for them. */
typedef struct overlay {
    const node *a, *b;
    const char *here, *there;
    uint32_t ends;
} overlay;

static bool all_rows(const overlay *o, bool (*f)(const overlay *o, const char *here, const char *there, void *user),
                     void *user)
{
    const type *all = &o->a->type, *part = &o->b->type;
    const int rank = all->rank, bytes = ts_dtype_bytes(all->dtype);
    int64_t at[MAX_RANK] = {0};
    if (!type_count(part))
        return true;
    for (;;) {
        int64_t here = 0, there = 0;
        int d = rank - 1;
        for (int i = 0; i < rank; i++) {
            here = here * all->dim[i] + at[i] + (o->ends >> i & 1 ? all->dim[i] - part->dim[i] : 0);
            there = there * part->dim[i] + at[i];
        }
        if (!f(o, o->here + here * bytes, o->there + there * bytes, user))
            return false;
        while (--d >= 0 && ++at[d] == part->dim[d])
            at[d] = 0;
        if (d < 0)
            return true;
    }
}

static int64_t row_of(const node *n)
{
    return n->type.rank ? n->type.dim[n->type.rank - 1] : 1;
}

/* Zeros of either sign are the same: -3e38 * 0 is one, where a mask leaves what it multiplies out. */
static bool same_row(const overlay *o, const char *here, const char *there, void *user)
{
    const ts_dtype d = o->b->type.dtype;
    bool same = !memcmp(here, there, (size_t)row_of(o->b) * (size_t)ts_dtype_bytes(d));
    (void)user;
    if (same || dtype_class(d) != D_REAL)
        return same;
    same = true;
    for (int64_t i = 0; i < row_of(o->b) && same; i++)
        same = load_real(d, here, i) == load_real(d, there, i);
    return same;
}

typedef struct more {
    bool known;
    int64_t by;
} more;

/* Reals that are whole numbers, as positions that were cast, and exact in f32, their sums too */
static bool whole_at(ts_dtype d, const char *at, int64_t i, int64_t *out)
{
    const bool real = d == TS_F32 || d == TS_F64;
    const double v = real ? load_real(d, at, i) : 0;
    const bool whole = real ? fabs(v) < 0x1p23 && floor(v) == v : dtype_class(d) == D_WHOLE;
    *out = !whole ? 0 : real ? (int64_t)v : load_whole(d, at, i);
    return whole;
}

static bool more_row(const overlay *o, const char *here, const char *there, void *user)
{
    more *m = user;
    bool same = true;
    for (int64_t i = 0; i < row_of(o->b) && same; i++) {
        int64_t a, b;
        same = whole_at(o->a->type.dtype, here, i, &a) && whole_at(o->b->type.dtype, there, i, &b);
        m->by = m->known ? m->by : b - a, m->known = true;
        same = same && m->by == b - a;
    }
    return same;
}

bool pairing_part(const node *a, const void *here, const node *b, const void *there, uint32_t ends)
{
    return all_rows(&(overlay){a, b, here, there, ends}, same_row, NULL);
}

bool pairing_more(const node *a, const void *here, const node *b, const void *there, int64_t *by)
{
    more m = {0};
    const bool same = all_rows(&(overlay){a, b, here, there, 0}, more_row, &m);
    *by = m.by;
    return same;
}

/* Positions that count on from what was kept: all of them are more. */
static bool find_shift(const pairing *q, const node *a, const node *const *b, varying *out)
{
    int64_t there[MOST_OTHER];
    for (int k = 0; k < q->n; k++)
        if (!pairing_more(a, a->leaf->data, b[k], b[k]->leaf->data, &there[k]))
            return false;
    return fit(q, 0, there, out) < 0;
}

static void count_from_ends(pairing *q, const node *a, uint32_t ends)
{
    aligned *out = &q->aligned[a->id];
    out->ends = ends, out->extent = arena_array(&q->mem, MAX_RANK, sizeof *out->extent);
    for (int d = 0; d < a->type.rank; d++) {
        out->extent[d] = extents_of(q->p, a, d);
        if (ends >> d & 1)
            q->p->varies[a->id][d] = (varying){.per = 1};
    }
}

static bool align(pairing *q, const node *a, const node *const *b)
{
    aligned *out = &q->aligned[a->id];
    uint32_t open = 0, ends = 0;
    *out = (aligned){.shift = {.per = 1}};
    for (int k = 0; k < q->n; k++)
        for (int d = 0; d < a->type.rank; d++)
            open |= a->type.dim[d] != b[k]->type.dim[d] ? 1u << d : 0;
    do { /* all subsets of open, the empty one first */
        int k = 0;
        while (k < q->n && ((type_equal(&a->type, &b[k]->type) && a->leaf->data == b[k]->leaf->data) ||
                            pairing_part(a, a->leaf->data, b[k], b[k]->leaf->data, ends)))
            k++;
        if (k == q->n)
            return count_from_ends(q, a, ends), true;
        ends = (ends - open) & open;
    } while (ends);
    return find_shift(q, a, b, &out->shift) || pairing_refuse(q, 0, a, "has other values at another extent");
}

const node *pairing_input(const graph *g, const node *n)
{
    int i = 0;
    while (!(g->node[i]->leaf && g->node[i]->leaf->kind == LEAF_INPUT && !strcmp(g->node[i]->label, n->label)))
        MUST(++i < g->n);
    return g->node[i];
}

bool pairing_leaves(pairing *q, int k, const node *a, const node *b)
{
    const leaf *x = a->leaf, *y = b->leaf;
    const bool equal = type_equal(&a->type, &b->type);
    if (x->kind == LEAF_INPUT || y->kind == LEAF_INPUT)
        return (x->kind == y->kind && !strcmp(a->label, b->label)) ||
               pairing_refuse(q, k, a, "is another one at another extent");
    return (x->data && y->data) ||
           (!x->data && !y->data && equal && x->seed == y->seed && x->mean == y->mean && x->scale == y->scale) ||
           pairing_refuse(q, k, a, "has other values at another extent");
}

/* ---- expressions ---- */
static bool pair(pairing *q, const node *a, const node *const *b);
static const expr *merged(pairing *q, const expr *x, const expr *const *y);

static void find_axes(axes *x, arena *mem, const defn *d)
{
    x->space = (space){.mem = mem};
    for (int i = 0; i < d->n_axis; i++)
        x->at[i] = affine_var(&x->space, var_add(&x->space, "", 0, d->extent[i] > 0 ? d->extent[i] - 1 : 0));
}

static bool same_shape(const affine *a, const affine *b) /* of sums: what is in their atoms aside */
{
    bool same = a->c == b->c && a->n == b->n;
    for (int i = 0; same && i < a->n; i++) {
        const atom *x = a->t[i].a, *y = b->t[i].a;
        same = a->t[i].coef == b->t[i].coef && x->kind == y->kind &&
               (x->kind == A_VAR ? x->var == y->var : x->kind != A_DIV || (x->by == y->by && same_shape(x->of, y->of)));
    }
    return same;
}

/* The same places, in none of which a number follows a variable */
static bool index_alike(pairing *q, const affine *a, const affine *const *b)
{
    const int before = q->n_sized;
    for (int k = 0; k < q->n; k++)
        if (!same_shape(a, b[k]))
            return false;
    for (int i = 0; i < a->n; i++) {
        const affine *of[MOST_OTHER];
        const expr *y[MOST_OTHER];
        for (int k = 0; k < q->n; k++)
            of[k] = b[k]->t[i].a->of, y[k] = b[k]->t[i].a->x;
        const atom *x = a->t[i].a;
        if ((x->kind == A_DIV && !index_alike(q, x->of, of)) || (x->kind == A_EXPR && !merged(q, x->x, y)))
            return false;
    }
    return q->n_sized == before;
}

/* A place that data say lies below the extent, whatever that is in the run: generated code tests it (varying_place). */
static bool told(const expr *x, const node *from, int d)
{
    return x_is_call(x, "at") && x->arg[1]->kind == X_LIT && x->arg[1]->whole == from->type.dim[d];
}

static const expr *place_merged(pairing *q, const expr *load, const expr *const *other, int d)
{
    const expr *x = load->arg[d], *y[MOST_OTHER], *data[MOST_OTHER];
    const affine *at[MOST_OTHER];
    bool told_all = extents_of(q->p, load->from, d).by && told(x, load->from, d);
    for (int k = 0; k < q->n; k++) {
        y[k] = other[k]->arg[d];
        at[k] = affine_of(&q->axes[k + 1].space, y[k], q->axes[k + 1].at);
        told_all = told_all && told(y[k], other[k]->from, d);
    }
    for (int k = 0; k < q->n && told_all; k++)
        data[k] = y[k]->arg[0];
    if (told_all) {
        const expr *place = merged(q, x->arg[0], data);
        return !place || place == x->arg[0] ? place ? x : NULL : x2(&q->mem, "at", place, x->arg[1]);
    }
    return index_alike(q, affine_of(&q->axes[0].space, x, q->axes[0].at), at) ? x : merged(q, x, y);
}

static bool all_positive(const node *n)
{
    bool all = n->leaf && n->leaf->data && dtype_class(n->type.dtype) != D_REAL;
    const int64_t count = all ? type_count(&n->type) : 0;
    for (int64_t i = 0; all && i < count; i++)
        all = load_whole(n->type.dtype, n->leaf->data, i) >= 0;
    return all;
}

static bool never_negative(const expr *x)
{
    bool never = x->kind == X_AXIS || (x->kind == X_LIT && x->is_whole && x->whole >= 0) ||
                 (x->kind == X_LOAD && all_positive(x->from));
    if (x->kind != X_CAST && !x_is_call(x, "add") && !x_is_call(x, "mul"))
        return never;
    never = true;
    for (int i = 0; never && i < x->n; i++)
        never = never_negative(x->arg[i]);
    return never;
}

/* "i < 0 ? i + extent : i" of what is at least 0 */
const expr *pairing_settled(const expr *x)
{
    const bool counts = x_is_call(x, "select") && x_is_call(x->arg[0], "lt") && x->arg[0]->arg[1]->kind == X_LIT &&
                        x->arg[0]->arg[1]->is_whole && x->arg[0]->arg[1]->whole == 0;
    return counts && never_negative(x->arg[0]->arg[0]) ? x->arg[2] : x;
}

bool pairing_head(const expr *x, const expr *y)
{
    return x->kind == y->kind && x->dtype == y->dtype && x->n == y->n && x->fn == y->fn && x->axis == y->axis &&
           x->n_state == y->n_state && x->folds == y->folds && x->is_whole == y->is_whole;
}

static bool is_count(const expr *x) /* a whole number, however it is written */
{
    return x->is_whole || (fabs(x->lit) < 0x1p53 && floor(x->lit) == x->lit);
}

static const expr *literal_merged(pairing *q, const expr *x, const expr *const *y)
{
    bool same = true, counts = is_count(x);
    int64_t there[MOST_OTHER];
    varying v;
    for (int k = 0; k < q->n; k++) {
        same = same && x->whole == y[k]->whole && !memcmp(&x->lit, &y[k]->lit, sizeof x->lit);
        counts = counts && is_count(y[k]);
    }
    for (int k = 0; k < q->n && counts; k++)
        there[k] = y[k]->is_whole ? y[k]->whole : (int64_t)y[k]->lit;
    if (same)
        return x;
    const int other = counts ? fit(q, x->is_whole ? x->whole : (int64_t)x->lit, there, &v) : 0;
    if (other >= 0)
        return q->other = other, NULL;
    q->n_sized++;
    const expr *size = extents_expr(&q->mem, &v);
    return x->dtype == TS_N_DTYPE ? size : x_cast(&q->mem, x->dtype, size);
}

/* A literal has no dtype of its own; what stands in its place takes that of what it meets. */
static const expr *as_met(pairing *q, const expr *x, int i, const expr *now)
{
    dtype d = TS_N_DTYPE;
    for (int k = x_is_choice(x); k < x->n && d == TS_N_DTYPE; k++)
        d = x->arg[k]->dtype;
    return x->kind == X_CALL && x->arg[i]->dtype == TS_N_DTYPE && d != TS_N_DTYPE ? x_cast(&q->mem, d, now) : now;
}

/* x where y[k] is the same in every other graph, but for numbers that follow variables; NULL where it is not */
static const expr *merged(pairing *q, const expr *x, const expr *const *y)
{
    const expr *other[MOST_OTHER], *part[MOST_OTHER], *arg[MAX_PART];
    const node *from[MOST_OTHER];
    bool changed = false;
    x = pairing_settled(x);
    for (int k = 0; k < q->n; k++) {
        other[k] = pairing_settled(y[k]);
        if (!pairing_head(x, other[k]))
            return q->other = k, NULL;
        from[k] = other[k]->from;
    }
    if (x->kind == X_LIT)
        return literal_merged(q, x, other);
    if (x->kind == X_LOAD && !pair(q, x->from, from))
        return NULL;
    for (int i = 0; i < x->n; i++) {
        for (int k = 0; k < q->n; k++)
            part[k] = other[k]->arg[i];
        arg[i] = x->kind == X_LOAD ? place_merged(q, x, other, i) : merged(q, x->arg[i], part);
        if (!arg[i])
            return NULL;
        if (arg[i] != x->arg[i])
            changed = true, arg[i] = as_met(q, x, i, arg[i]);
    }
    return changed ? x_again(&q->mem, x, arg) : x;
}

/* A part of a constant, as it lies in the whole: places counted from the end, and what all elements are more */
static const expr *in_whole(void *user, const expr *x)
{
    pairing *q = user;
    const aligned *piece = x->kind == X_LOAD ? &q->aligned[x->from->id] : NULL;
    const expr *arg[MAX_PART];
    if (!piece || (!piece->ends && !piece->shift.by))
        return x;
    for (int i = 0; i < x->n; i++) {
        const expr *whole = x_whole(&q->mem, x->from->type.dim[i]);
        arg[i] = !(piece->ends >> i & 1) ? x->arg[i]
                                         : x2(&q->mem, "add", x->arg[i],
                                              x2(&q->mem, "sub", whole, extents_expr(&q->mem, &piece->extent[i])));
    }
    q->n_sized++;
    const expr *now = x_again(&q->mem, x, arg);
    return piece->shift.by ? x2(&q->mem, "add", now, x_cast(&q->mem, x->dtype, extents_expr(&q->mem, &piece->shift)))
                           : now;
}

/* ---- definitions ---- */
static bool reads_varying(const pairing *q, const expr *x)
{
    bool any = x->kind == X_LOAD && extents_any(q->p, x->from);
    for (int i = 0; i < x->n && !any; i++)
        any = reads_varying(q, x->arg[i]);
    return any;
}

/* What no nest walks is computed at the bound: right where it goes forwards, one element after another, and nothing of
 * it depends on what lies behind. */
static bool walked_whole(pairing *q, const node *n, const expr *x, bool sized)
{
    const bool any = extents_any(q->p, n) || reads_varying(q, x) || sized;
    if (!any || !x_alone(x) || x_folds(x))
        return true;
    return x->kind == X_SCAN && !x->folds && !n->trip && !x_checks(x) && !sized
               ? true
               : pairing_refuse(q, 0, n, "goes through all of its operand at once");
}

static bool same_trip(pairing *q, const node *a, const node *const *b)
{
    const bool inside = q->inside;
    bool same = true;
    for (int k = 0; k < q->n && same; k++)
        same = !a->trip == !b[k]->trip && (!a->trip || a->trip->n_root == b[k]->trip->n_root);
    q->inside = true;
    for (int i = 0; same && a->trip && i < a->trip->n_root; i++) {
        const node *root[MOST_OTHER];
        for (int k = 0; k < q->n; k++)
            root[k] = b[k]->trip->root[i];
        same = pair(q, a->trip->root[i], root);
    }
    q->inside = inside;
    return same;
}

bool pairing_routine(const expr *x, const expr *y)
{
    if (x->kind != X_ROUTINE || y->kind != X_ROUTINE)
        return true;
    return !strcmp(x->run->name, y->run->name) && x->run->n_parameter == y->run->n_parameter &&
           !memcmp(x->run->parameter, y->run->parameter, (size_t)x->run->n_parameter * sizeof *x->run->parameter);
}

static bool follow_axes(pairing *q, const node *n, const defn *x, const defn *y)
{
    for (int i = 0; i < x->n_axis; i++) {
        int64_t there[MOST_OTHER];
        for (int k = 0; k < q->n; k++)
            there[k] = y[k].extent[i];
        if (!follow(q, n, i, x->extent[i], there))
            return false;
    }
    return true;
}

static bool pair_made(pairing *q, const node *a, const node *const *b)
{
    defn x, y[MOST_OTHER];
    const expr *other[MOST_OTHER];
    const int before = q->n_sized;
    bool same = true;
    if (!pairing_trips(q, a, b) || !g_defn(a, &q->mem, &x, q->e))
        return false;
    for (int k = 0; k < q->n; k++) {
        if (!g_defn(b[k], &q->mem, &y[k], q->e))
            return false;
        if (x.n_axis != y[k].n_axis)
            return pairing_refuse(q, k, a, "is computed in another way at another extent");
        other[k] = x_tidy(&q->mem, y[k].value, y[k].extent);
        find_axes(&q->axes[k + 1], &q->mem, &y[k]);
        same = same && pairing_routine(x.value, y[k].value);
    }
    if (!follow_axes(q, a, &x, y))
        return false;
    find_axes(&q->axes[0], &q->mem, &x);
    const expr *element = same ? merged(q, x_tidy(&q->mem, x.value, x.extent), other) : NULL;
    q->form[a->id] = element;
    element = element ? x_map(&q->mem, element, in_whole, q) : NULL;
    const bool sized = q->n_sized > before;
    same = element && same_trip(q, a, b) && !(sized && q->inside);
    if (err_is(q->e))
        return false;
    if (sized)
        q->p->sized[a->id] = element;
    return same ? walked_whole(q, a, x.value, sized)
                : pairing_refuse(q, q->other, a, "has the extent in the formula of its elements");
}

/* ---- nodes ---- */
/* Small constants are computed while a graph is built, large ones are left as they were said. */
bool pairing_values(pairing *q, int k, const node *a, const node *b)
{
    const ts_array *x = g_value(q->p->g, a, MOST_COMPARED), *y = x ? g_value(q->of[k]->graph, b, MOST_COMPARED) : NULL;
    return (x && y && pairing_part(a, x->data, b, y->data, 0)) ||
           pairing_refuse(q, k, a, "is computed in another way at another extent");
}

const node *pairing_source(const node *n) /* of a weight that is computed: what computes it */
{
    while (n->leaf && n->leaf->of)
        n = n->leaf->of;
    return n;
}

/* Constants that were computed while graph k was built are nodes of their own, however equal. */
bool pairing_numbers(const pairing *q, int k, const node *a, const node *b)
{
    graph *g = q->of[k]->graph;
    const ts_array *x = type_equal(&a->type, &b->type) ? g_value(g, a, MOST_COMPARED) : NULL,
                   *y = x ? g_value(g, b, MOST_COMPARED) : NULL;
    return y && !memcmp(x->data, y->data, (size_t)type_bytes(&a->type));
}

/* b[k] stands for a in graph k. What computes them is compared later. */
static bool pair(pairing *q, const node *a, const node *const *b)
{
    const bool known = q->mate[0][a->id];
    for (int k = 0; k < q->n; k++) {
        const node *other = pairing_source(b[k]);
        if (known && q->mate[k][a->id] != other && !pairing_numbers(q, k, q->mate[k][a->id], other))
            return pairing_refuse(q, k, a, "stands for two values at another extent");
        q->mate[k][a->id] = known ? q->mate[k][a->id] : other;
        if (a->type.dtype != other->type.dtype || a->type.rank != other->type.rank)
            return pairing_refuse(q, k, a, "is computed in another way at another extent");
    }
    for (int i = 0; i < a->type.rank && !known; i++) {
        int64_t there[MOST_OTHER];
        for (int k = 0; k < q->n; k++)
            there[k] = q->mate[k][a->id]->type.dim[i];
        if (!follow(q, a, i, a->type.dim[i], there))
            return false;
    }
    bool data = a->leaf && a->leaf->data;
    for (int k = 0; k < q->n; k++)
        data = data && q->mate[k][a->id]->leaf && q->mate[k][a->id]->leaf->data;
    if (!known)
        q->open[q->n_open++] = a, q->within[a->id] = q->inside, q->reader[a->id] = q->at;
    return known || !data || align(q, a, b);
}

static bool compare(pairing *q, const node *a)
{
    const node *from = pairing_source(a), *b[MOST_OTHER];
    bool leaves = true, same = true;
    q->at = a;
    for (int k = 0; k < q->n; k++) {
        b[k] = q->mate[k][a->id];
        leaves = leaves && b[k]->leaf, same = same && !from->leaf == !b[k]->leaf;
    }
    q->inside = q->within[a->id] || a != from;
    if (same && a != from)
        return pair(q, from, b);
    if (same && !leaves)
        return pair_made(q, a, b);
    for (int k = 0; k < q->n; k++)
        if (!(same ? pairing_leaves(q, k, a, b[k]) : pairing_values(q, k, a, b[k])))
            return false;
    return true;
}

/* Results that are constants are computed, in case they follow variables. */
static void compute_roots(graph *g, int n, const node **root)
{
    for (int i = 0; i < n; i++)
        if (root[i]->leaf && root[i]->leaf->kind != LEAF_INPUT)
            root[i] = g_rematerialized(g, root[i]);
}

/* The other graph as it would be planned, as far as that changes it. */
static bool prepare(const plan *p, const other_extents *x, plan *other, err *e)
{
    *other = (plan){.on = p->on, .as_written = p->as_written, .whole_sums = true, .g = x->graph, .n_root = p->n_root};
    const node **root = arena_array(&other->mem, (size_t)p->n_root + 1, sizeof *root);
    memcpy(root, x->root, (size_t)p->n_root * sizeof *root);
    compute_roots(x->graph, p->n_root, root);
    other->root = root;
    return pass_join(other, e) && pass_known(other, e);
}

static void forget(plan *p) /* which extents vary */
{
    p->n_varies = p->g->n;
    p->varies = arena_array(&p->mem, (size_t)p->n_varies + 1, sizeof *p->varies);
    p->sized = arena_array(&p->mem, (size_t)p->n_varies + 1, sizeof *p->sized);
}

/* other[k]: the roots in graph k */
static bool pair_all(pairing *q, const node *const *root, const node *const *const *other)
{
    const size_t nodes = (size_t)q->p->g->n + 1;
    bool ok = true;
    for (int k = 0; k < q->n; k++)
        q->mate[k] = arena_array(&q->p->mem, nodes, sizeof *q->mate[k]);
    q->open = arena_array(&q->mem, nodes, sizeof *q->open);
    q->within = arena_array(&q->mem, nodes, sizeof *q->within);
    q->reader = arena_array(&q->mem, nodes, sizeof *q->reader);
    q->aligned = arena_array(&q->mem, nodes, sizeof *q->aligned);
    q->form = arena_array(&q->mem, nodes, sizeof *q->form);
    q->axes = arena_array(&q->mem, (size_t)q->n + 1, sizeof *q->axes);
    for (int i = 0; ok && i < q->p->n_root; i++) {
        const node *b[MOST_OTHER];
        for (int k = 0; k < q->n; k++)
            b[k] = other[k][i];
        ok = pair(q, root[i], b);
    }
    for (int i = 0; ok && i < q->p->n_input + q->p->n_told; i++) { /* no element of some is read */
        const node *b[MOST_OTHER];
        for (int k = 0; k < q->n; k++)
            b[k] = pairing_input(q->of[k]->graph, q->p->input[i]);
        ok = pair(q, q->p->input[i], b);
    }
    while (ok && q->n_open)
        ok = compare(q, q->open[--q->n_open]);
    return ok;
}

static bool keep(pairing *q, bool ok) /* the plan's expressions are in its arena */
{
    if (q->n_sized && ok)
        arena_take(&q->p->mem, &q->mem);
    else
        arena_free(&q->mem);
    return ok;
}

static bool find_all(plan *p, err *e)
{
    const variables *v = p->variables;
    pairing q = {.p = p, .n = v->n, .e = e};
    plan other[2 * MOST_VARIABLES + 1] = {0};
    const node *const *root[2 * MOST_VARIABLES + 1];
    bool ok = true;
    MUST(v->n_other <= COUNT(other));
    for (int k = 0; ok && k < v->n_other; k++) {
        ok = prepare(p, &v->other[k], &other[k], e);
        root[k] = other[k].root;
    }
    for (int k = 0; k < q.n; k++)
        q.of[k] = &v->other[k];
    ok = ok && pair_all(&q, p->root, root);
    for (int k = q.n; ok && k < v->n_other; k++)
        ok = extents_hold(&q, &v->other[k], root[k]);
    for (int k = 0; k < v->n_other; k++)
        arena_free(&other[k].mem);
    return keep(&q, ok);
}

/* ---- the graph at a small extent ---- */
struct small {
    const other_extents *at;
    const node **root, **mate; /* by id of the plan's own nodes, as they were then */
    int n;
};

static bool find_small(plan *p, err *e)
{
    const other_extents *x = p->variables->small;
    pairing q = {.p = p, .n = 1, .of = {x}, .parts = true, .e = e};
    plan other;
    if (!x)
        return true;
    bool ok = prepare(p, x, &other, e);
    ok = ok && keep(&q, pair_all(&q, p->root, &other.root));
    struct small *m = arena_get(&p->mem, sizeof *m);
    *m = (struct small){x, arena_array(&p->mem, (size_t)p->n_root + 1, sizeof *m->root), q.mate[0], p->g->n};
    for (int i = 0; ok && i < p->n_root; i++)
        m->root[i] = other.root[i];
    arena_free(&other.mem);
    p->small = m;
    return ok;
}

const node *extents_small_node(const plan *p, const node *n)
{
    return !p->n_variable ? n : p->small && n->id < p->small->n ? p->small->mate[n->id] : NULL;
}

int64_t extents_small_size(const plan *p)
{
    return p->small->at->size[0];
}

typedef struct there { /* by id of the nodes there: what is to be done of them */
    const extents_rewriting *by;
    graph *g;
    const bool *is;
    int n;
} there;

static const node *rewritten(void *user, const node *old, const node *now)
{
    const there *t = user;
    const node *other = old->id < t->n && t->is[old->id] ? t->by->there(t->g, now) : now;
    return other;
}

bool extents_rewrite(plan *p, const extents_rewriting *r)
{
    struct small *m = p->small;
    const plan was = *p;
    err ignored = {0};
    graph *g = m->at->graph;
    bool *is = arena_array(&p->mem, (size_t)g->n + 1, sizeof *is);
    const node **root = arena_array(&p->mem, (size_t)p->n_root + 1, sizeof *root);
    for (int i = 0; i < m->n; i++)
        if (m->mate[i] && r->done(r->user, p->g->node[i]))
            is[m->mate[i]->id] = true;
    pairing q = {.p = p, .n = 1, .of = {m->at}, .parts = true, .e = &ignored};
    forget(p);
    if (g_rewrite(g, p->n_root, m->root, rewritten, &(there){r, g, is, g->n}, root) &&
        keep(&q, pair_all(&q, r->root, (const node *const *const[]){root})))
        return true;
    arena mem = p->mem; /* what was asked for meanwhile is in it */
    *p = was, p->mem = mem;
    return false;
}

static bool keep_told(plan *p) /* those inputs that say something */
{
    const int n = p->n_told;
    p->n_told = 0;
    for (int i = p->n_input; i < p->n_input + n; i++)
        if (extents_any(p, p->input[i]))
            p->input[p->n_input + p->n_told++] = p->input[i];
    return true;
}

bool pass_extents(plan *p, err *e)
{
    if (!p->n_variable)
        return true;
    const node **root = arena_array(&p->mem, (size_t)p->n_root + 1, sizeof *root);
    memcpy(root, p->root, (size_t)p->n_root * sizeof *root);
    compute_roots(p->g, p->n_root, root);
    p->root = root;
    forget(p);
    return find_all(p, e) && find_small(p, e) && keep_told(p);
}
