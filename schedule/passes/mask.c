/* mask.c - bounds of the score's expression over a block of queries and one of keys: a block of which all is masked
 * is not walked. */
#include "schedule/passes/mask.h"

#include "graph/affine/interval.h"
#include "schedule/plan/extents.h"

#include <float.h>
#include <math.h>

enum { FINEST = 16 };

typedef struct search {
    masking m;
    mask_skip *y;
    span value[MAX_STAGES]; /* of a stage where it is masked */
} search;

/* So far below the largest of its row an exponential is 0. */
static double margin(const masking *m)
{
    return m->k->stage[m->from].node->type.dtype == TS_F64 ? 746 : 104;
}

static const expr *element(const void *of, const node *n, const expr *x)
{
    return extents_element(of, n, x);
}

static span_memo memo_of(plan *p) /* definitions of its nodes, with extents that vary */
{
    return (span_memo){.mem = &p->mem, .element = element, .of = p};
}

/* ---- what follows from a masked score ---- */
static bool where_masked(void *user, const expr *load, span *out)
{
    const search *f = user;
    const int i = kernel_stage(f->m.k, load->from);
    *out = (span){-0x1p100, 0x1p100};
    if (i >= 0 && f->y->along[i] >= 0 && !(f->m.k->stage[i].folds >> f->y->along[i] & 1))
        *out = f->value[i];
    else if (i >= 0 && i == f->y->check)
        out->low = MASK_LOW + margin(&f->m);
    return i >= 0 || dtype_class(load->from->type.dtype) == D_REAL;
}

static span masked(search *f, const stage *s, const expr *x)
{
    span axis[MAX_AXIS];
    span_memo memo = memo_of(f->m.p);
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

/* The axis along which stage s reads masked scores; -1: it reads none, -2: it reads them in another way. */
static int axis_of(const search *f, const stage *s)
{
    const kernel *k = f->m.k;
    int axis = -1;
    for (int j = 0; j < s->n_load; j++) {
        const int o = kernel_stage(k, s->load[j]->from);
        if (o < 0 || o >= s - k->stage || f->y->along[o] < 0 || k->stage[o].folds >> f->y->along[o] & 1)
            continue;
        const stage *from = &k->stage[o];
        const expr *at = s->load[j]->arg[from->dim[f->y->along[o]]];
        if (at->kind != X_AXIS || at->axis < k->n_shared || s->extent[at->axis] != from->extent[f->y->along[o]] ||
            (axis >= 0 && axis != at->axis))
            return -2;
        axis = at->axis;
    }
    return axis;
}

static bool follows(search *f, int i)
{
    const stage *s = &f->m.k->stage[i];
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
    const node *scores = f->m.k->stage[f->m.from].node;
    if (fold->kind != X_FOLD)
        return false;
    if (x_folds_by(fold, "max") && is_load_of(fold->arg[0], scores)) {
        const bool rows = s->scratch && s->n_result == f->m.k->n_shared && s->folds == 1u << axis;
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
    const stage *s = &f->m.k->stage[i];
    const int axis = f->y->along[i];
    int l = 0;
    while (l < s->nest.n && s->nest.loop[l].axis != axis)
        l++;
    if (l == s->nest.n)
        return false;
    const loop *q = &s->nest.loop[l];
    const bool lanes = q->role->lanes && !stage_fold(s), trips = q->role->serial;
    f->m.grain = f->m.grain / int_gcd(f->m.grain, q->step) * q->step;
    return (lanes || trips) && f->m.grain < s->extent[axis];
}

/* ---- the mask ---- */
static bool of_other_stages(void *user, const expr *load, span *out) /* is not looked into */
{
    const masking *m = user;
    *out = (span){-0x1p100, 0x1p100};
    return kernel_stage(m->k, load->from) >= 0;
}

static bool is_masked(masking *m, span_memo *memo, const mask_skip *y, int64_t block, int64_t grain)
{
    const stage *s = &m->k->stage[m->from];
    span at[MAX_AXIS];
    for (int a = 0; a < s->n_axis; a++)
        at[a] = (span){0, (double)s->extent[a] - 1};
    at[m->rows].low = (double)(block * y->rows), at[m->axis].low = (double)(grain * m->grain);
    at[m->rows].high = fmin(at[m->rows].high, at[m->rows].low + (double)y->rows - 1);
    at[m->axis].high = fmin(at[m->axis].high, at[m->axis].low + (double)m->grain - 1);
    const span v = span_of(&(span_box){.memo = memo, .axis = at, .known = of_other_stages, .user = m}, s->value);
    if (v.high <= MASK_LOW)
        m->high = fmax(m->high, v.high);
    return v.high <= MASK_LOW;
}

bool mask_count(masking *m, mask_skip *y)
{
    const stage *s = &m->k->stage[m->from];
    const nest *shared = &m->k->shared;
    span_memo memo = memo_of(m->p);
    y->rows = s->extent[m->rows];
    for (int i = 0; i < shared->n; i++)
        if (shared->loop[i].axis == m->rows && shared->loop[i].step < y->rows)
            y->rows = shared->loop[i].step;
    y->grain = m->grain, y->grains = int_ceil_div(s->extent[m->axis], m->grain);
    y->n = y->rows ? (int)int_ceil_div(s->extent[m->rows], y->rows) : 0;
    int *count = arena_array(&m->p->mem, (size_t)y->n + 1, sizeof *count);
    double walked = 0;
    m->high = -INFINITY;
    for (int b = 0; b < y->n; b++) {
        count[b] = (int)y->grains;
        while (count[b] > 1 && is_masked(m, &memo, y, b, count[b] - 1))
            count[b]--;
        walked += count[b];
    }
    y->count = count, y->share = y->n ? walked / ((double)y->n * (double)y->grains) : 1;
    /* The slack covers rounding of sums and differences. */
    m->least = isinf(m->high) ? -(double)FLT_MAX : m->high + margin(m) + fabs(m->high) * 1e-6;
    return y->share < 1;
}

/* ---- a kernel ---- */
static bool starts_at(search *f, int i)
{
    const kernel *k = f->m.k;
    const stage *s = &k->stage[i];
    const dtype d = s->node->type.dtype;
    if (!s->scratch || s->n_result != k->n_shared + 1 || (d != TS_F32 && d != TS_F64))
        return false;
    for (int j = 0; j < MAX_STAGES; j++)
        f->y->along[j] = -1;
    f->m.from = i, f->m.axis = k->n_shared, f->m.grain = FINEST, f->y->check = -1;
    f->y->along[i] = k->n_shared, f->value[i] = (span){-INFINITY, MASK_LOW};
    for (int j = i + 1; j < k->n_stage; j++)
        if (!follows(f, j))
            return false;
    if (f->y->check < 0)
        return false;
    for (int j = i; j < k->n_stage; j++)
        if (f->y->along[j] >= 0 && !bounded(f, j))
            return false;
    const bool any = mask_count(&f->m, f->y);
    f->y->least = f->m.least;
    return any;
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
        if (starts_at(&(search){.m = {.p = p, .k = k, .rows = k->n_shared - 1}, .y = y}, i))
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
