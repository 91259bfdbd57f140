/* split.c - sums that several workers share: by a loop over a folded axis whose trips are dealt, "k/512@block".
 *
 *   y[m,n] = f(sum over k of a[m,k] b[k,n])
 *   p[t,m,n] = sum over k in part t of a[m,k] b[k,n]        this kernel, its loops as they are
 *   y[m,n] = f(sum over t of p[t,m,n])                      another one behind it, which the guess walks
 *
 * A fold of several values leaves its states, p[i,t,m,n] (split_states.c), which its merge puts together. Parts are the
 * loop's steps, not the workers', and are added up in order: bits depend on nobody's time. */
#include "schedule/passes/split.h"
#include "graph/ir/rule.h"
#include "schedule/plan/extents.h"
#include "schedule/nest/nest.h"
#include "schedule/passes/split_states.h"

#include <string.h>

/* ---- the parts ---- */
typedef struct splitting {
    plan *p;
    kernel *k;
    stage *s;
    const expr *fold;
    int axis; /* the one that is cut */
    int64_t step, parts;
    dtype sum;    /* as accumulators are */
    pieces piece; /* of a fold of several values; n 0: it is of one */
    const node *partial;
} splitting;

static const expr *summed(const splitting *c, const expr *body)
{
    return x_cast(&c->p->mem, c->sum, body);
}

/* p[t,m,n] as an element of its own, over axes t, m, n, k, those from `first` on. */
typedef struct parted {
    const expr *axis[MAX_AXIS]; /* of the stage's axes */
    int64_t extent[MAX_AXIS + 2];
    const expr *there; /* of the last part what there is; NULL: all parts are whole */
} parted;

static void part_axes(const splitting *c, int first, parted *y)
{
    arena *mem = &c->p->mem;
    const stage *s = c->s;
    y->extent[first] = c->parts;
    for (int a = 0; a < s->n_axis; a++) {
        y->axis[a] = x_axis(mem, first + 1 + a);
        y->extent[first + 1 + a] = a == c->axis ? c->step : s->extent[a];
    }
    const expr *start = x2(mem, "mul", x_axis(mem, first), x_whole(mem, c->step)),
               *place = x2(mem, "add", start, y->axis[c->axis]);
    const int64_t all = s->extent[c->axis];
    y->axis[c->axis] = place, y->there = all % c->step ? x2(mem, "lt", place, x_whole(mem, all)) : NULL;
}

static const node *partial_sums(const splitting *c)
{
    arena *mem = &c->p->mem;
    const stage *s = c->s;
    parted y;
    part_axes(c, 0, &y);
    const expr *body = x_rename(mem, summed(c, c->fold->arg[0]), s->n_axis, y.axis);
    if (y.there)
        body = x3(mem, "select", y.there, body, x_unit(mem, c->fold->fn, c->sum));
    const spelling spelled = {s->n_result + 1, s->n_axis - s->n_result, y.extent, c->fold->fn->name, NULL};
    return g_element_of(c->p->g, &spelled, body);
}

/* p[i,t,m,n]: piece i of the states */
static const node *partial_states(const splitting *c)
{
    arena *mem = &c->p->mem;
    const stage *s = c->s;
    const int n = c->fold->n_state;
    const expr *start[MAX_STATE], *step[MAX_STATE], *which = c->piece.x[c->piece.n - 1];
    parted y = {.extent = {c->piece.n}};
    part_axes(c, 1, &y);
    for (int k = 0; k < n; k++) {
        start[k] = x_rename(mem, c->fold->arg[k], s->n_axis, y.axis);
        step[k] = x_rename(mem, c->fold->arg[n + k], s->n_axis, y.axis);
        if (y.there)
            step[k] = x3(mem, "select", y.there, step[k], x_state(mem, start[k]->dtype, k));
    }
    for (int i = c->piece.n - 1; i-- > 0;)
        which = x3(mem, "select", x2(mem, "eq", x_axis(mem, 0), x_whole(mem, i)), c->piece.x[i], which);
    const spelling spelled = {s->n_result + 2, s->n_axis - s->n_result, y.extent, NULL, NULL};
    return g_fold_of(c->p->g, &spelled, x_scan(mem, 1, 0, n, start, step, which));
}

static void give_buffer(plan *p, const node *n) /* to a node that was made after fusion */
{
    buffer *all = arena_array(&p->mem, (size_t)p->g->n + 1, sizeof *all);
    memcpy(all, p->buffer, (size_t)p->n_buffer * sizeof *all); /* n may be of an earlier plan, with others behind it */
    p->buffer = all, p->n_buffer = p->g->n, all[n->id].where = NOWHERE;
    layout_rows(&all[n->id].layout, &n->type);
}

static void write_to(stage *s, const node *n) /* all of it */
{
    s->node = n;
    for (int i = 0; i < n->type.rank; i++)
        s->low[i] = 0, s->count[i] = n->type.dim[i];
}

/* The stage as it is, but for what follows the sum, and where it writes. */
static void sum_parts(const splitting *c)
{
    arena *mem = &c->p->mem;
    stage *s = c->s;
    const int n = c->fold->n_state, first = c->piece.n > 0;
    if (first) {
        const expr **piece = arena_array(mem, MAX_PIECE, sizeof *piece);
        memcpy(piece, c->piece.x, sizeof c->piece.x);
        s->piece = piece, s->n_piece = c->piece.n, s->store[0] = x_whole(mem, 0);
        s->value = x_merged(mem, x_scan(mem, c->fold->folds, 0, n, c->fold->arg, c->fold->arg + n, piece[0]),
                            c->fold->arg + 2 * n + 1);
    } else
        s->value = x_fold(mem, c->fold->fn->name, c->fold->folds, summed(c, c->fold->arg[0]));
    s->store[first] = x2(mem, "floordiv", x_axis(mem, c->axis), x_whole(mem, c->step));
    for (int a = 0; a < s->n_result; a++)
        s->store[first + 1 + a] = x_axis(mem, a), s->dim[a] = first + 1 + a;
    write_to(s, c->partial);
    stage_finish(c->p, s);
}

typedef struct replacing {
    const expr *from, *to;
} replacing;

static const expr *replaced_fold(void *user, const expr *x)
{
    const replacing *r = user;
    return x == r->from ? r->to : x;
}

/* All of them, over axis t and those of the result */
static const expr *all_parts(const splitting *c, int t)
{
    arena *mem = &c->p->mem;
    const int first = c->piece.n > 0;
    const expr *sub[MAX_RANK + 2], *part[MAX_PIECE];
    for (int a = 0; a <= t; a++)
        sub[first + a] = x_axis(mem, a ? a - 1 : t);
    if (!first)
        return x_fold(mem, c->fold->fn->name, 1u << t, x_load(mem, c->partial, sub));
    for (int i = 0; i < c->piece.n; i++)
        sub[0] = x_whole(mem, i), part[i] = x_load(mem, c->partial, sub);
    return pieces_merged(mem, c->fold, t, part);
}

/* What follows the sum, over the parts: their axis is the one that is left of those folded. */
static void add_parts(const splitting *c, const stage *was, stage *s)
{
    arena *mem = &c->p->mem;
    const int t = was->n_result;
    *s = *was;
    s->n_axis = t + 1, s->folds = 1u << t, s->extent[t] = c->parts;
    s->varies[t] = extents_steps(&was->varies[c->axis], c->step);
    memcpy(s->letter[t], was->letter[c->axis], MAX_LETTER), memcpy(s->own[t], was->own[c->axis], MAX_LETTER);
    const expr *all = all_parts(c, t);
    s->value = x_cast(mem, was->node->type.dtype, x_map(mem, was->value, replaced_fold, &(replacing){c->fold, all}));
    s->nest.n = s->n_staging = 0, s->rule = s->asked = NULL, s->written = s->guessed = false;
    memset(s->tile, 0, sizeof s->tile);
    stage_finish(c->p, s);
}

int split_bytes(const expr *fold)
{
    ENDED_BY(arena_free) arena mem = {0};
    pieces y;
    if (fold->kind != X_SCAN)
        return ts_dtype_bytes(summed_as(fold->dtype));
    pieces_of(&mem, fold, &y);
    return y.n * ts_dtype_bytes(y.dtype);
}

static kernel *make_room(plan *p, int at) /* for one behind kernel `at` */
{
    kernel *all = arena_array(&p->mem, (size_t)p->n_kernel + 2, sizeof *all);
    memcpy(all, p->kernel, (size_t)(at + 1) * sizeof *all);
    memcpy(all + at + 2, p->kernel + at + 1, (size_t)(p->n_kernel - at - 1) * sizeof *all);
    p->kernel = all, p->n_kernel++;
    return &all[at];
}

bool split_kernel(plan *p, int at, err *e)
{
    const int l = p->kernel[at].n_stage == 1 && stage_nested(p->kernel[at].stage) ? nest_split(p->kernel[at].stage)
                                                                                  : -1;
    if (l < 0)
        return true;
    kernel *k = make_room(p, at);
    stage *s = k->stage, was = *s;
    splitting c = {.p = p, .k = k, .s = s, .fold = stage_fold(s), .axis = s->nest.loop[l].axis};
    c.sum = summed_as(c.fold->dtype), c.step = s->nest.loop[l].step, c.parts = loop_trips(&s->nest.loop[l]);
    if (c.fold->kind == X_SCAN)
        pieces_of(&p->mem, c.fold, &c.piece);
    c.partial = c.piece.n ? partial_states(&c) : partial_sums(&c);
    if (!c.partial)
        return err_set(e, p->g->err.code, "%s", p->g->err.text);
    give_buffer(p, c.partial);
    k[1] = *k;
    k[1].stage = arena_get(&p->mem, sizeof *k[1].stage);
    k[1].merges = true, k[1].rule = "guess", k[1].asked = NULL, k[1].guessed = false, *k[1].lost = 0;
    add_parts(&c, &was, k[1].stage);
    sum_parts(&c);
    kernel_measure(k), kernel_measure(&k[1]);
    k->bytes += (double)(c.parts - 1) * stage_points(&was, 0, was.n_result) * split_bytes(c.fold); /* all parts */
    const bool tuple = c.piece.n > 0;
    k->notes = arena_format(&p->mem,
                            "%s%s %s are in %lld parts, %lld bytes of memory; the kernel behind this one %s in order\n",
                            k->notes, tuple ? "states folded along" : "sums of", s->letter[c.axis], (long long)c.parts,
                            (long long)type_bytes(&c.partial->type), tuple ? "merges them" : "adds them up");
    k[1].notes = tuple ? "merges the states of the parts that the kernel before it folds\n"
                       : "adds up the parts that the kernel before it sums\n";
    return true;
}
