/* split.c - sums that several workers share: by a loop over a folded axis whose trips are dealt, "k/512@block".
 *
 *   y[m,n] = f(sum over k of a[m,k] b[k,n])
 *   p[t,m,n] = sum over k in part t of a[m,k] b[k,n]        this kernel, its loops as they are
 *   y[m,n] = f(sum over t of p[t,m,n])                      another one behind it, which the guess walks
 *
 * Parts are the loop's steps, not the workers', and are added up in order: bits depend on nobody's time. */
#include "schedule/split.h"
#include "graph/ir/rule.h"
#include "schedule/nest.h"

#include <stdio.h>
#include <string.h>

int nest_split(const stage *s)
{
    for (int l = 0; l < s->nest.n; l++)
        if (s->nest.loop[l].role->parallel && s->folds >> s->nest.loop[l].axis & 1 && loop_trips(&s->nest.loop[l]) > 1)
            return l;
    return -1;
}

/* ---- what is refused ---- */
static bool is_first(const stage *s, int l) /* of its axis */
{
    bool first = true;
    for (int i = 0; i < l; i++)
        first = first && s->nest.loop[i].axis != s->nest.loop[l].axis;
    return first;
}

static bool mentions(const expr *x, const expr *load) /* on some condition, too */
{
    for (int i = 0; i < x->n; i++)
        if (mentions(x->arg[i], load))
            return true;
    return x_same(x, load);
}

static const staging *staged_behind(const stage *s) /* an operand that is read behind the sum */
{
    const expr *fold = stage_fold(s);
    for (int i = 0; i < s->n_staging; i++)
        if (s->staging[i].load < MAX_LOADS && !mentions(fold, s->load[s->staging[i].load]))
            return &s->staging[i];
    return NULL;
}

bool split_check(const plan *p, const kernel *k, err *e)
{
    const stage *s = &k->stage[0];
    const int l = k->n_stage == 1 ? nest_split(s) : -1;
    if (l < 0)
        return true;
    const loop *q = &s->nest.loop[l];
    const char *letter = s->letter[q->axis];
    const expr *fold = stage_fold(s);
    if (fold->kind == X_SCAN)
        return err_set(e, TS_BAD_INPUT, "loop %s folds %d values at once: parts that are %s sum up one", letter,
                       fold->n_state, q->role->done);
    if (!is_first(s, l))
        return err_set(e, TS_BAD_INPUT, "loop %s, whose parts are %s, is inside another of that axis", letter,
                       q->role->done);
    for (int i = l + 1; i < s->nest.n; i++)
        if (s->nest.loop[i].role->parallel && s->folds >> s->nest.loop[i].axis & 1)
            return err_set(e, TS_BAD_INPUT, "a second folded loop, %s, is %s: one axis is summed in parts",
                           s->letter[s->nest.loop[i].axis], q->role->done);
    if (p->part)
        return err_set(e, TS_BAD_INPUT, "loop %s is %s: in a plan over several devices no sum is in parts", letter,
                       q->role->done);
    if (s->n_result == MAX_RANK)
        return err_set(e, TS_BAD_INPUT, "loop %s is %s: its parts would have more than %d axes", letter, q->role->done,
                       MAX_RANK);
    const staging *g = staged_behind(s);
    return !g ||
           err_set(e, TS_BAD_INPUT, "operand %c is read behind the sum, whose parts are added up by another kernel",
                   'a' + g->load);
}

/* ---- the parts ---- */
typedef struct splitting {
    plan *p;
    kernel *k;
    stage *s;
    const expr *fold;
    int axis; /* the one that is cut */
    int64_t step, parts;
    dtype sum; /* as accumulators are */
    const node *partial;
} splitting;

static const expr *summed(const splitting *c, const expr *body)
{
    return x_cast(&c->p->mem, c->sum, body);
}

/* p[t,m,n] as an element of its own, over axes t, m, n, k: of the last part what there is. */
static const node *partial_sums(const splitting *c)
{
    arena *m = &c->p->mem;
    const stage *s = c->s;
    const expr *axis[MAX_AXIS], *body;
    int64_t extent[MAX_AXIS + 1] = {c->parts};
    for (int a = 0; a < s->n_axis; a++)
        axis[a] = x_axis(m, a + 1), extent[a + 1] = a == c->axis ? c->step : s->extent[a];
    const expr *place = x2(m, "add", x2(m, "mul", x_axis(m, 0), x_whole(m, c->step)), axis[c->axis]);
    axis[c->axis] = place;
    body = x_rename(m, summed(c, c->fold->arg[0]), s->n_axis, axis);
    if (s->extent[c->axis] % c->step)
        body = x3(m, "select", x2(m, "lt", place, x_whole(m, s->extent[c->axis])), body,
                  x_unit(m, c->fold->fn, c->sum));
    const spelling spelled = {s->n_result + 1, s->n_axis - s->n_result, extent, c->fold->fn->name, NULL};
    return g_element_of(c->p->g, &spelled, body);
}

static void give_buffer(plan *p, const node *n) /* to a node that was made after fusion */
{
    buffer *all = arena_array(&p->mem, (size_t)p->g->n + 1, sizeof *all);
    memcpy(all, p->buffer, (size_t)n->id * sizeof *all);
    p->buffer = all, all[n->id].where = NOWHERE;
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
    arena *m = &c->p->mem;
    stage *s = c->s;
    s->value = x_fold(m, c->fold->fn->name, c->fold->folds, summed(c, c->fold->arg[0]));
    s->store[0] = x2(m, "floordiv", x_axis(m, c->axis), x_whole(m, c->step));
    for (int a = 0; a < s->n_result; a++)
        s->store[1 + a] = x_axis(m, a), s->dim[a] = 1 + a;
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

/* What follows the sum, over the parts: their axis is the one that is left of those folded. */
static void add_parts(const splitting *c, const stage *was, stage *s)
{
    arena *m = &c->p->mem;
    const expr *sub[MAX_RANK];
    const int t = was->n_result;
    *s = *was;
    s->n_axis = t + 1, s->folds = 1u << t, s->extent[t] = c->parts;
    memcpy(s->letter[t], was->letter[c->axis], MAX_LETTER), memcpy(s->own[t], was->own[c->axis], MAX_LETTER);
    for (int a = 0; a <= t; a++)
        sub[a ? a : 0] = x_axis(m, a ? a - 1 : t);
    const expr *all = x_fold(m, c->fold->fn->name, s->folds, x_load(m, c->partial, sub));
    s->value = x_cast(m, was->node->type.dtype, x_map(m, was->value, replaced_fold, &(replacing){c->fold, all}));
    s->nest.n = s->n_staging = 0, s->rule = s->asked = NULL, s->written = s->guessed = false;
    memset(s->tile, 0, sizeof s->tile);
    stage_finish(c->p, s);
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
    const bool half = dtype_class(c.fold->dtype) == D_REAL && dtype_bits(c.fold->dtype) < 32;
    c.sum = half ? TS_F32 : c.fold->dtype, c.step = s->nest.loop[l].step, c.parts = loop_trips(&s->nest.loop[l]);
    c.partial = partial_sums(&c);
    if (!c.partial)
        return err_set(e, p->g->err.code, "%s", p->g->err.text);
    give_buffer(p, c.partial);
    k[1] = *k;
    k[1].stage = arena_get(&p->mem, sizeof *k[1].stage);
    k[1].merges = true, k[1].rule = "guess", k[1].asked = NULL, k[1].guessed = false, *k[1].lost = 0;
    add_parts(&c, &was, k[1].stage);
    sum_parts(&c);
    kernel_measure(k), kernel_measure(&k[1]);
    k->bytes += (double)(c.parts - 1) * stage_points(&was, 0, was.n_result) * ts_dtype_bytes(c.sum); /* all parts */
    k->notes = arena_format(&p->mem,
                            "%ssums of %s are in %lld parts, %lld bytes of memory; the kernel behind this one "
                            "adds them up in order\n",
                            k->notes, s->letter[c.axis], (long long)c.parts, (long long)type_bytes(&c.partial->type));
    k[1].notes = "adds up the parts that the kernel before it sums\n";
    return true;
}
