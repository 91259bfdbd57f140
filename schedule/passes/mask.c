/* mask.c - bounds of the score's expression over a block of queries and one of keys: a block of which all is masked
 * is not walked. */
#include "schedule/passes/mask.h"

#include "graph/affine/interval.h"

#include <float.h>
#include <math.h>

/* A score at most this is masked; at least MARGIN below the largest of its row its exponential is 0. */
enum { LOW = -1000, MARGIN32 = 104, MARGIN64 = 746, FINEST = 16 };

typedef struct search {
    plan *p;
    const kernel *k;
    mask_skip *y;
    int from;               /* the stage of masked scores */
    span value[MAX_STAGES]; /* of a stage where it is masked */
    int64_t grain;
    double high, margin; /* masked scores are at most this */
} search;

/* ---- what follows from a masked score ---- */
static bool where_masked(void *user, const expr *load, span *out)
{
    const search *f = user;
    const int i = kernel_stage(f->k, load->from);
    *out = (span){-0x1p100, 0x1p100};
    if (i >= 0 && f->y->along[i] >= 0 && !(f->k->stage[i].folds >> f->y->along[i] & 1))
        *out = f->value[i];
    else if (i >= 0 && i == f->y->check)
        out->low = f->high + f->margin;
    return i >= 0 || dtype_class(load->from->type.dtype) == D_REAL;
}

static span masked(search *f, const stage *s, const expr *x)
{
    span axis[MAX_AXIS];
    span_memo memo = mask_memo(f->p);
    for (int a = 0; a < s->n_axis; a++)
        axis[a] = (span){0, (double)s->extent[a] - 1};
    return span_of(&(span_box){.memo = &memo, .axis = axis, .known = where_masked, .user = f}, x);
}

static bool is_load_of(const expr *x, const node *n)
{
    while (x->kind == X_CAST)
        x = x->arg[0];
    return x->kind == X_LOAD && x->from == n;
}

/* The axis along which stage s reads those that are masked; -1: it reads none, -2: in no such way. */
static int axis_of(const search *f, const stage *s)
{
    int axis = -1;
    for (int j = 0; j < s->n_load; j++) {
        const int o = kernel_stage(f->k, s->load[j]->from);
        if (o < 0 || o >= s - f->k->stage || f->y->along[o] < 0 || f->k->stage[o].folds >> f->y->along[o] & 1)
            continue;
        const stage *from = &f->k->stage[o];
        const expr *at = s->load[j]->arg[from->dim[f->y->along[o]]];
        if (at->kind != X_AXIS || at->axis < f->k->n_shared || s->extent[at->axis] != from->extent[f->y->along[o]] ||
            (axis >= 0 && axis != at->axis))
            return -2;
        axis = at->axis;
    }
    return axis;
}

static bool follows(search *f, int i)
{
    const stage *s = &f->k->stage[i];
    const expr *fold = stage_fold(s);
    const int axis = axis_of(f, s);
    if (axis == -2)
        return false;
    if ((f->y->along[i] = axis) < 0)
        return true;
    if (!(s->folds >> axis & 1)) {
        f->value[i] = masked(f, s, s->value);
        return s->scratch;
    }
    const node *scores = f->k->stage[f->from].node;
    if (fold->kind != X_FOLD)
        return false;
    if (x_folds_by(fold, "max") && is_load_of(fold->arg[0], scores)) {
        const bool rows = s->scratch && s->n_result == f->k->n_shared && s->folds == 1u << axis;
        if (f->y->check >= 0 || !rows || s->value != fold || s->node->type.dtype != fold->dtype)
            return false;
        f->y->check = i;
        return true;
    }
    return span_is(masked(f, s, fold->arg[0]), fold->fn->unit);
}

/* ---- the loops ---- */
/* The outermost loop over the axis takes the bound: one of whole trips, or the lanes of plain elements. */
static bool bounded(search *f, int i)
{
    const stage *s = &f->k->stage[i];
    const int axis = f->y->along[i];
    int l = 0;
    while (l < s->nest.n && s->nest.loop[l].axis != axis)
        l++;
    if (l == s->nest.n)
        return false;
    const loop *q = &s->nest.loop[l];
    const bool lanes = q->role->lanes && !stage_fold(s), trips = q->role->serial;
    f->grain = f->grain / int_gcd(f->grain, q->step) * q->step;
    return (lanes || trips) && f->grain < s->extent[axis];
}

/* ---- the mask ---- */
static bool of_other_stages(void *user, const expr *load, span *out) /* is not looked into */
{
    const search *f = user;
    *out = (span){-0x1p100, 0x1p100};
    return kernel_stage(f->k, load->from) >= 0;
}

static bool block_masked(search *f, span_memo *memo, int64_t block, int64_t grain)
{
    const stage *s = &f->k->stage[f->from];
    const int rows = f->k->n_shared - 1, axis = f->y->along[f->from];
    span at[MAX_AXIS];
    for (int a = 0; a < s->n_axis; a++)
        at[a] = (span){0, (double)s->extent[a] - 1};
    at[rows].low = (double)(block * f->y->rows), at[axis].low = (double)(grain * f->grain);
    at[rows].high = fmin(at[rows].high, at[rows].low + (double)f->y->rows - 1);
    at[axis].high = fmin(at[axis].high, at[axis].low + (double)f->grain - 1);
    const span v = span_of(&(span_box){.memo = memo, .axis = at, .known = of_other_stages, .user = f}, s->value);
    if (v.high > LOW)
        return false;
    f->high = fmax(f->high, v.high);
    return true;
}

static bool count_blocks(search *f)
{
    mask_skip *y = f->y;
    const stage *s = &f->k->stage[f->from];
    const int rows = f->k->n_shared - 1;
    const int64_t extent = s->extent[y->along[f->from]];
    span_memo memo = mask_memo(f->p);
    y->rows = s->extent[rows];
    for (int i = 0; i < f->k->shared.n; i++)
        if (f->k->shared.loop[i].axis == rows && f->k->shared.loop[i].step < y->rows)
            y->rows = f->k->shared.loop[i].step;
    y->grain = f->grain, y->grains = (extent + f->grain - 1) / f->grain;
    y->n = (int)((s->extent[rows] + y->rows - 1) / y->rows);
    int *count = arena_array(&f->p->mem, (size_t)y->n, sizeof *count);
    double walked = 0;
    f->high = -INFINITY;
    for (int b = 0; b < y->n; b++) {
        int n = (int)y->grains;
        while (n > 1 && block_masked(f, &memo, b, n - 1))
            n--;
        count[b] = n, walked += n;
    }
    y->count = count, y->share = walked / ((double)y->n * (double)y->grains);
    /* The slack is for sums and differences being rounded. */
    y->least = isinf(f->high) ? -(double)FLT_MAX : f->high + f->margin + fabs(f->high) * 1e-6;
    return walked < (double)y->n * (double)y->grains;
}

/* ---- a kernel ---- */
static bool starts_at(search *f, int i)
{
    const kernel *k = f->k;
    const stage *s = &k->stage[i];
    const dtype d = s->node->type.dtype;
    if (!s->scratch || s->n_result != k->n_shared + 1 || (d != TS_F32 && d != TS_F64))
        return false;
    for (int j = 0; j < MAX_STAGES; j++)
        f->y->along[j] = -1;
    f->from = i, f->y->check = -1, f->grain = FINEST, f->margin = d == TS_F64 ? MARGIN64 : MARGIN32;
    f->y->along[i] = k->n_shared, f->high = LOW, f->value[i] = (span){-INFINITY, LOW};
    for (int j = i + 1; j < k->n_stage; j++)
        if (!follows(f, j))
            return false;
    if (f->y->check < 0)
        return false;
    for (int j = i; j < k->n_stage; j++)
        if (f->y->along[j] >= 0 && !bounded(f, j))
            return false;
    return count_blocks(f);
}

void mask_find(plan *p, kernel *k)
{
    mask_skip *y = NULL;
    if (k->n_stage < 2 || !k->n_shared || p->reference)
        return;
    if (kernel_carried(k) >= 0) {
        mask_stream(p, k);
        return;
    }
    for (int i = 0; i + 1 < k->n_stage && !k->mask; i++) {
        y = y ? y : arena_get(&p->mem, sizeof *y);
        if (starts_at(&(search){.p = p, .k = k, .y = y}, i))
            k->mask = y;
    }
    if (!k->mask)
        return;
    for (int i = 0; i < k->n_stage; i++)
        if (y->along[i] >= 0)
            k->flops -= (1 - y->share) * stage_flops(&k->stage[i]);
    const stage *s = k->stage;
    while (y->along[s - k->stage] < 0)
        s++;
    k->notes = arena_format(&p->mem,
                            "%s%.0f %% of %s are walked: the mask leaves nothing beyond (told apart by %lld of %s and "
                            "%lld of %s)\n",
                            k->notes, 100 * y->share, s->letter[y->along[s - k->stage]], (long long)y->rows,
                            s->letter[k->n_shared - 1], (long long)y->grain, s->letter[y->along[s - k->stage]]);
}
