/* mask_stream.c - the same where keys come block by block, and states are carried from one to the next: the blocks
 * behind the last that a block of rows sees are not walked. That they leave the states as they are is derived from the
 * stages' expressions: masked scores are very low numbers, the largest score so far is a number far above them (which
 * is tested when the kernel runs), and what is then equal to a state, 0 or 1 follows. */
#include "schedule/passes/mask.h"

#include "graph/affine/interval.h"

#include <math.h>
#include <string.h>

typedef struct known { /* of a value in a masked trip */
    span in;
    int same; /* the state that it is equal to, as it was before the trip; or -1 */
} known;

typedef struct search {
    masking m;
    int check; /* the stage of the largest so far */
    known value[MAX_STAGES];
} search;

static const known anything = {{-0x1p100, 0x1p100}, -1};

/* ---- what follows from masked scores ---- */
static bool is(known v, double number)
{
    return span_is(v.in, number);
}

/* Of a function that rises or falls in each argument alone: by its values at the corners. */
static known at_corners(const expr *x, const known *arg)
{
    span s = {INFINITY, -INFINITY};
    if (x->fn->monotone != 1 || !x->fn->real || x->n > 2 || dtype_class(x->dtype) != D_REAL)
        return anything;
    for (int c = 0; c < 1 << x->n; c++) {
        double at[2] = {0};
        for (int i = 0; i < x->n; i++)
            at[i] = c >> i & 1 ? arg[i].in.high : arg[i].in.low;
        const double exact = x->fn->real(at), v = x->dtype == TS_F64 ? exact : (double)(float)exact;
        if (isnan(v))
            return anything;
        s.low = fmin(s.low, v), s.high = fmax(s.high, v);
    }
    return (known){s, -1};
}

static known of_call(const expr *x, const known *arg)
{
    const char *name = x->fn->name;
    for (int i = 0; i < 2 && x->n == 2; i++) {
        const known a = arg[i], b = arg[1 - i];
        if (!strcmp(name, "max") && a.same >= 0 && b.in.high <= a.in.low)
            return a;
        if ((!strcmp(name, "mul") && is(b, 1)) || (!strcmp(name, "add") && is(b, 0)))
            return a;
        if (!strcmp(name, "mul") && is(b, 0) && isfinite(a.in.low) && isfinite(a.in.high))
            return b;
    }
    if (!strcmp(name, "sub") && arg[0].same >= 0 && arg[0].same == arg[1].same)
        return (known){{0, 0}, -1};
    return at_corners(x, arg);
}

static known value_of(const search *f, const known *state, const expr *x)
{
    known arg[MAX_ARG];
    if (x->kind == X_STATE)
        return state[x->axis];
    if (x->kind == X_LIT)
        return (known){{x->lit, x->lit}, -1};
    if (x->kind == X_LOAD)
        return kernel_stage(f->m.k, x->from) >= 0 ? f->value[kernel_stage(f->m.k, x->from)] : anything;
    for (int i = 0; i < x->n && i < MAX_ARG; i++)
        arg[i] = x->kind == X_CALL || x->kind == X_FOLD || x->kind == X_CAST ? value_of(f, state, x->arg[i]) : anything;
    if (x->kind == X_CALL)
        return of_call(x, arg);
    if (x->kind == X_CAST)
        return dtype_bits(x->dtype) >= dtype_bits(x->arg[0]->dtype) && dtype_class(x->dtype) == D_REAL ? arg[0]
                                                                                                       : anything;
    const bool sum = x_folds_by(x, "add") && is(arg[0], 0), most = x_folds_by(x, "max");
    return sum || most ? (known){arg[0].in, -1} : anything;
}

/* ---- states ---- */
/* The number of a state: states that begin alike and make alike steps, each by itself, have one. */
static int number_of(const search *f, int at, int state)
{
    const expr *x = f->m.k->stage[at].value;
    for (int i = 0; i < at && !state; i++) {
        const expr *y = f->m.k->stage[i].value;
        const bool alone = stage_carries(&f->m.k->stage[i]) && x_count(y->arg[y->n_state], X_STATE) == 1;
        if (alone && x_same(x->arg[0], y->arg[0]) && x_same(x->arg[x->n_state], y->arg[y->n_state]))
            return i * MAX_STATE;
    }
    return at * MAX_STATE + state;
}

/* A trip of a stage that carries states. Whether they are as before, where anybody is to see them later. */
static bool carries_on(search *f, int at)
{
    const stage *s = &f->m.k->stage[at];
    const expr *x = s->value;
    const int n = x->n_state;
    known was[MAX_STATE], next[MAX_STATE];
    bool kept = true;
    for (int i = 0; i < n; i++) {
        was[i] = (known){anything.in, number_of(f, at, i)};
        if (was[i].same == f->check * MAX_STATE)
            was[i].in.low = f->m.least;
    }
    for (int i = 0; i < n; i++) {
        next[i] = value_of(f, was, x->arg[n + i]);
        kept = kept && next[i].same == was[i].same;
    }
    f->value[at] = value_of(f, next, x->arg[2 * n]);
    return stage_keeps_last(s) ? kept : s->scratch;
}

/* The largest so far: its own state, at every trip. */
static bool is_largest(const stage *s)
{
    const expr *x = s->value;
    bool is = stage_carries(s) && x->n == 3 && s->scratch && x->arg[2]->kind == X_STATE && x_is_call(x->arg[1], "max");
    for (int i = 0, states = 0; is && i < 2; i++)
        states += x->arg[1]->arg[i]->kind == X_STATE, is = i == 0 || states == 1;
    return is;
}

static bool leaves_states(search *f)
{
    const kernel *k = f->m.k;
    bool all = true;
    for (int i = 0; i < k->n_stage && all; i++) {
        const stage *s = &k->stage[i];
        if (i == f->m.from)
            f->value[i] = (known){{-INFINITY, f->m.high}, -1};
        else if (stage_carries(s))
            all = carries_on(f, i);
        else
            f->value[i] = value_of(f, NULL, s->value), all = s->scratch;
    }
    return all;
}

/* ---- a kernel ---- */
static bool starts_at(search *f, mask_skip *y, int from)
{
    const stage *s = &f->m.k->stage[from];
    const dtype d = s->node->type.dtype;
    f->m.from = from;
    return !stage_carries(s) && s->scratch && s->n_result != s->n_shared && (d == TS_F32 || d == TS_F64) &&
           mask_count(&f->m, y) && leaves_states(f);
}

void mask_stream(plan *p, kernel *k)
{
    const int axis = kernel_carried(k);
    search f = {.m = {.p = p, .k = k, .axis = axis, .rows = axis - 1, .grain = 1}};
    mask_skip *y = arena_get(&p->mem, sizeof *y);
    bool found = false;
    while (f.check < k->n_stage && !is_largest(&k->stage[f.check]))
        f.check++;
    for (int i = 0; f.check < k->n_stage && f.m.rows >= 0 && i < f.check && !found; i++)
        found = starts_at(&f, y, i);
    if (!found)
        return;
    for (int i = 0; i < MAX_STAGES; i++)
        y->along[i] = -1;
    y->carried = true, y->check = f.check, y->least = f.m.least;
    k->mask = y;
    for (int i = 0; i < k->n_stage; i++)
        k->flops -= (1 - y->share) * stage_flops(&k->stage[i]);
    const stage *s = &k->stage[k->main];
    k->notes = arena_format(&p->mem,
                            "%s%.0f %% of %s are walked: the mask leaves nothing beyond (told apart by %lld of %s)\n",
                            k->notes, 100 * y->share, s->letter[axis], (long long)y->rows, s->letter[f.m.rows]);
}
