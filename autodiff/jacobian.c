/* jacobian.c - the derivative of every element by every element: one pass of forward or reverse mode over a symbol, and
 * a batch of units in its place. Where elements along an axis depend on those at the same place alone, one unit serves
 * all places of that axis; where they depend on a band, places further apart than it is wide share one. */
#include "autodiff/jacobian.h"
#include "autodiff/autodiff.h"
#include "graph/affine/linear.h"

#include <stdlib.h>
#include <string.h>

/* ---- which axes go together ---- */
static void find_bands(task *j)
{
    for (int i = 0; i < j->in->type.rank; i++) {
        ENDED_BY(heap_free) reach *of = reach_make(j->out, j->in, i, j->from[i], j->size[i]);
        j->band[i] = of[j->out->id];
    }
}

/* An axis of out along which only the same place of in's axis counts */
static void find_pairs(task *j)
{
    for (int i = 0; i < j->in->type.rank; i++) {
        const reach *r = &j->band[i];
        const int to = r->along;
        if (!r->any || to < 0 || r->by != 1 || r->low || r->high || j->out->type.dim[to] != j->in->type.dim[i] ||
            j->out_set >> to & 1)
            continue;
        j->pair[j->n_pair][0] = to, j->pair[j->n_pair++][1] = i;
        j->out_set |= 1u << to, j->in_set |= 1u << i;
    }
}

/* ---- seeds ---- */
static coloring all_places(const type *t, uint32_t whole, const int64_t *from, const int64_t *size)
{
    coloring c = {.color = {0}};
    for (int i = 0; i < t->rank; i++)
        c.from[i] = from ? from[i] : 0, c.size[i] = size ? size[i] : t->dim[i],
        c.color[i] = whole >> i & 1 ? 0 : c.size[i];
    return c;
}

coloring colors_of_in(const task *j)
{
    coloring c = all_places(&j->in->type, j->in_set, j->from, j->size);
    for (int i = 0; i < j->in->type.rank; i++)
        if (c.color[i] > 0 && j->band[i].any)
            c.color[i] = int_min(c.color[i], reach_width(&j->band[i]));
    return c;
}

/* Elements of out whose bands have no place in common share a seed. */
static coloring colors_of_out(const task *j)
{
    coloring c = all_places(&j->out->type, j->out_set, NULL, NULL);
    for (int i = 0; i < j->in->type.rank; i++) {
        const reach *r = &j->band[i];
        const int to = r->any ? r->along : -1;
        if (to >= 0 && r->by && !(j->in_set >> i & 1) && c.color[to] == j->out->type.dim[to])
            c.color[to] = int_min(c.color[to], int_ceil_div(reach_width(r), llabs(r->by)));
    }
    return c;
}

static int64_t coloring_seeds(const coloring *c, int rank)
{
    int64_t n = 1;
    for (int i = 0; i < rank; i++)
        n = c->color[i] > 0 ? n * c->color[i] : n;
    return n;
}

static bool has_fewer(const coloring *c, int rank)
{
    for (int i = 0; i < rank; i++)
        if (c->color[i] > 0 && c->color[i] < c->size[i])
            return true;
    return false;
}

/* The number of the seed of the places at[axis], over any axes */
static const expr *seed_of(arena *mem, const coloring *c, int rank, const expr *const *at)
{
    const expr *seed = x_cast(mem, TS_I64, x_whole(mem, 0));
    int64_t unit = 1;
    for (int i = rank; i-- > 0;) {
        if (c->color[i] < 1)
            continue;
        const expr *place = x2(mem, "sub", at[i], x_whole(mem, c->from[i]));
        if (c->color[i] < c->size[i])
            place = x2(mem, "mod", place, x_whole(mem, c->color[i]));
        seed = x2(mem, "add", seed, x2(mem, "mul", place, x_whole(mem, unit)));
        unit *= c->color[i];
    }
    return seed;
}

const node *coloring_units(graph *g, const type *t, const coloring *c)
{
    ENDED_BY(arena_free) arena mem = {0};
    type shape = {.dtype = t->dtype, .rank = t->rank + 1, .dim = {coloring_seeds(c, t->rank)}};
    const expr *at[MAX_RANK];
    for (int i = 0; i < t->rank; i++)
        at[i] = x_axis(&mem, i + 1), shape.dim[i + 1] = t->dim[i];
    const expr *here = x2(&mem, "eq", x_axis(&mem, 0), seed_of(&mem, c, t->rank, at));
    for (int i = 0; i < t->rank; i++)
        if (c->size[i] < t->dim[i])
            here = x2(&mem, "and", here, x_inside(&mem, at[i], c->from[i], c->from[i] + c->size[i]));
    const expr *one = x_load(&mem, g_scalar(g, t->dtype, 1), NULL);
    const expr *x = x_tidy(&mem, x3(&mem, "select", here, one, x_whole(&mem, 0)), shape.dim);
    return g_fitted(g, emit_over(g, &shape, x), &shape); /* [seeds, as t...] */
}

/* ---- the pass ---- */
/* A batch of what a unit of `of` brings about, [seeds, ...]. */
static const node *passed(const task *j, bool forward, const coloring *c, const reach *of)
{
    graph *g = j->g;
    const node *from = forward ? j->in : j->out, *result = NULL;
    const node *v = stand_in(g, &from->type, "seed"); /* as from */
    const bool ok = v && (forward ? push_part(j, of, v, 1, &j->out, &result)
                                  : ts_chain_rule(g, 1, &j->out, &v, 1, &j->in, &result));
    const node *all = ok ? coloring_units(g, &from->type, c) : NULL; /* [seeds, as from...] */
    return all && ts_batch(g, 1, &result, 1, &v, &all, &result) ? result : NULL;
}

/* ---- few rows, one by one ---- */
enum { FEW = 4 }; /* then what a row has no part in is left out, and what rows share is computed once */

/* out at place `row` of the axes that are in no pair: over the others */
static const node *part_at(const task *j, int64_t row)
{
    ENDED_BY(arena_free) arena mem = {0};
    defn d;
    const type *t = &j->out->type;
    type shape = {.dtype = t->dtype};
    int64_t extent[MAX_AXIS] = {0};
    const expr *at[MAX_AXIS] = {0};
    for (int i = t->rank; i-- > 0;) {
        if (j->out_set >> i & 1)
            continue;
        at[i] = x_whole(&mem, row % t->dim[i]);
        row /= t->dim[i];
    }
    for (int i = 0; i < t->rank; i++)
        if (!at[i])
            extent[shape.rank] = t->dim[i], at[i] = x_axis(&mem, shape.rank), shape.dim[shape.rank++] = t->dim[i];
    const bool open = !j->out->leaf && !j->out->trip && g_defn_calls(j->out, &mem, &d, NULL) && d.n_axis == t->rank &&
                      !x_alone(d.value);
    const expr *x = open ? x_tidy(&mem, x_rename(&mem, d.value, MAX_AXIS, at), extent) : x_load(&mem, j->out, at);
    return g_fitted(j->g, emit_over(j->g, &shape, x), &shape); /* [axes of out in no pair...] */
}

/* in's gradient at a row, [axes of in...], as that row of the Jacobian: axes of out in no pair have one place */
static const node *as_row(const task *j, const node *n)
{
    int64_t order[MAX_RANK], shape[MAX_RANK];
    int k = 0, rank = 0;
    for (int i = 0; i < j->out->type.rank; i++) {
        shape[rank++] = j->out_set >> i & 1 ? j->out->type.dim[i] : 1;
        for (int p = 0; p < j->n_pair; p++)
            if (j->pair[p][0] == i)
                order[k++] = j->pair[p][1];
    }
    for (int i = 0; i < j->in->type.rank; i++)
        if (!(j->in_set >> i & 1))
            order[k++] = i, shape[rank++] = j->in->type.dim[i];
    return g_reshape(j->g, g_transpose(j->g, n, k, order), rank, shape);
}

/* The gradients of the sums along what is in pairs, row by row; of out's axes at most one is in no pair. */
static const node *one_by_one(const task *j, int64_t rows)
{
    graph *g = j->g;
    const node *part[FEW]; /* as in, then as as_row has it */
    int along = 0;
    while (j->out_set >> along & 1)
        along++;
    for (int64_t k = 0; k < rows; k++) {
        const node *y = part_at(j, k), *one = y ? g_filled(g, &y->type, 1) : NULL; /* [axes of out in no pair...] */
        if (!one || !ts_chain_rule(g, 1, &y, &one, 1, &j->in, &part[k]) || !(part[k] = as_row(j, part[k])))
            return NULL;
    }
    return g_joined(g, rows, part, along);
}

/* Reverse mode, and no more than one axis of rows */
static bool is_few(const task *j, int64_t rows)
{
    int open = 0;
    for (int i = 0; i < j->out->type.rank; i++)
        open += !(j->out_set >> i & 1);
    return rows > 0 && rows <= FEW && open <= 1;
}

/* ---- results ---- */
static bool same_shape(const node *n, int rank, const int64_t *shape)
{
    return n->type.rank == rank && !memcmp(n->type.dim, shape, (size_t)rank * sizeof *shape);
}

/* [axes of one side that are in no pair..., all axes of the other] as [axes of out..., those of in in no pair...] */
static const node *ordered(const task *j, const node *n, bool forward)
{
    const type *from = forward ? &j->in->type : &j->out->type, *other = forward ? &j->out->type : &j->in->type;
    const uint32_t set = forward ? j->in_set : j->out_set;
    int64_t shape[2 * MAX_RANK], order[2 * MAX_RANK], at[MAX_RANK];
    int rank = 0, k = 0;
    for (int i = 0; i < from->rank; i++)
        if (!(set >> i & 1))
            at[i] = rank, shape[rank++] = forward ? j->size[i] : from->dim[i];
    const int first = rank;
    for (int i = 0; i < other->rank; i++)
        shape[rank++] = other->dim[i];
    for (int i = 0; i < j->out->type.rank; i++) {
        int64_t place = forward ? first + i : at[i];
        for (int p = 0; p < j->n_pair && !forward; p++)
            place = j->pair[p][0] == i ? first + j->pair[p][1] : place;
        order[k++] = place;
    }
    for (int i = 0; i < j->in->type.rank; i++)
        if (!(j->in_set >> i & 1))
            order[k++] = forward ? at[i] : first + i;
    return turned_node(j->g, same_shape(n, rank, shape) ? n : g_reshape(j->g, n, rank, shape), order, j->first);
}

/* [colors, axes of the other side...] as [axes of out..., axes of in in no pair...]: zeros outside of the bands */
static const node *spread(const task *j, const node *n, bool forward, const coloring *c)
{
    ENDED_BY(arena_free) arena mem = {0};
    const type *in = &j->in->type, *out = &j->out->type;
    const expr *of_out[MAX_RANK], *of_in[MAX_RANK], *sub[MAX_RANK + 1], *inside = NULL;
    type shape = {.dtype = n->type.dtype, .rank = out->rank};
    for (int i = 0; i < out->rank; i++)
        of_out[i] = x_axis(&mem, i), shape.dim[i] = out->dim[i];
    for (int i = 0; i < in->rank; i++) {
        const reach *r = &j->band[i];
        if (j->in_set >> i & 1)
            continue;
        of_in[i] = x2(&mem, "add", x_axis(&mem, shape.rank), x_whole(&mem, j->from[i]));
        shape.dim[shape.rank++] = j->size[i];
        const expr *start = x_cast(&mem, TS_I64, x_whole(&mem, 0));
        if (r->along >= 0)
            start = x2(&mem, "mul", of_out[r->along], x_whole(&mem, r->by));
        inside = x_both(&mem, inside, x_inside(&mem, x2(&mem, "sub", of_in[i], start), r->low, r->high + 1));
    }
    for (int p = 0; p < j->n_pair; p++)
        of_in[j->pair[p][1]] = of_out[j->pair[p][0]];
    const type *from = forward ? in : out, *to = forward ? out : in;
    sub[0] = seed_of(&mem, c, from->rank, forward ? of_in : of_out);
    for (int i = 0; i < to->rank; i++)
        sub[i + 1] = (forward ? of_out : of_in)[i];
    const expr *x = x_tidy(&mem, x3(&mem, "select", inside, x_load(&mem, n, sub), x_whole(&mem, 0)), shape.dim);
    return g_fitted(j->g, emit_over(j->g, &shape, x), &shape); /* as above */
}

const node *by_tangents(const task *j, const coloring *c, const reach *of)
{
    const node *n = passed(j, true, c, of); /* [colors, as out...] */
    return !n ? NULL : has_fewer(c, j->in->type.rank) ? spread(j, n, true, c) : ordered(j, n, true);
}

static const node *by_gradients(const task *j, const coloring *c)
{
    const node *n = passed(j, false, c, NULL); /* [colors, as in...] */
    return !n ? NULL : has_fewer(c, j->out->type.rank) ? spread(j, n, false, c) : ordered(j, n, false);
}

static const node *made(const task *j)
{
    const coloring in = colors_of_in(j), out = colors_of_out(j);
    const int64_t by_in = coloring_seeds(&in, j->in->type.rank), by_out = coloring_seeds(&out, j->out->type.rank);
    if (by_in > by_out)
        return !has_fewer(&out, j->out->type.rank) && is_few(j, by_out) ? one_by_one(j, by_out) : by_gradients(j, &out);
    const node *n = by_parts(j); /* [axes of out..., axes of in in no pair...] */
    return n || err_is(&j->g->err) ? n : by_tangents(j, &in, NULL);
}

static bool begin(task *j)
{
    for (int i = 0; i < 2; i++) {
        const node *n = i ? j->in : j->out;
        if (dtype_class(n->type.dtype) != D_REAL)
            return g_fail(j->g, TS_BAD_INPUT, "jacobian: values of dtype %s have none, expected reals",
                          ts_dtype_name(n->type.dtype)),
                   false;
        if (n->type.rank >= MAX_RANK)
            return g_fail(j->g, TS_UNSUPPORTED, "jacobian: rank %d, at most %d is possible", n->type.rank,
                          MAX_RANK - 1),
                   false;
    }
    memcpy(j->size, j->in->type.dim, sizeof j->size);
    find_bands(j);
    if (j->pair)
        find_pairs(j);
    const int rank = j->out->type.rank + j->in->type.rank - j->n_pair;
    if (rank > MAX_RANK)
        g_fail(j->g, TS_UNSUPPORTED, "jacobian: it has %d axes, at most %d are possible", rank, MAX_RANK);
    return rank <= MAX_RANK;
}

/* What it is asked for is there as a whole. */
static bool has_room(const task *j, const type *t)
{
    if (type_valid(t, &j->g->err))
        return true;
    const char *out = *j->out->label ? j->out->label : j->out->op->name,
               *in = *j->in->label ? j->in->label : j->in->op->name;
    return err_in(&j->g->err, "jacobian of %s by %s", out, in);
}

ts_tensor ts_jacobian(ts_graph *g, ts_tensor out, ts_tensor in, int *n_pair, int (*pair)[2])
{
    if (!g)
        return NULL;
    task j = {.g = g, .out = out, .in = in, .pair = n_pair ? pair : NULL, .first = g->n};
    if (!g_all(g, "jacobian", 2, (const node *const[]){out, in}) || !begin(&j))
        return NULL;
    type t = out->type; /* [axes of out..., axes of in in no pair...] */
    bool reaches = true;
    for (int i = 0; i < in->type.rank; i++) {
        if (!(j.in_set >> i & 1))
            t.dim[t.rank++] = in->type.dim[i];
        reaches = reaches && j.band[i].any;
    }
    if (!has_room(&j, &t))
        return NULL;
    if (n_pair)
        *n_pair = j.n_pair;
    return reaches ? made(&j) : g_filled(g, &t, 0);
}
