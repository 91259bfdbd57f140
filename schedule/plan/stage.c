/* stage.c - what stages, and values in memory, are asked: folds, guards, blocks, how much of an axis is left. */
#include "graph/ir/custom.h"
#include "schedule/plan/plan.h"

#include <string.h>

/* ---- stages ---- */
/* Whether loops of a schema's notation walk it; a scatter or routine walks itself. */
bool stage_nested(const stage *s)
{
    return !x_alone(s->value) || x_folds(s->value) || stage_carries(s);
}

/* A scan along an axis that stages share: its states wait in scratch from trip to trip. */
bool stage_carries(const stage *s)
{
    return s->value->kind == X_SCAN && s->n_shared > 0 && !x_folds(s->value);
}

int stored_width(const plan *p, const node *n)
{
    return p->reference && custom_widens(n) ? WIDE_BYTES : ts_dtype_bytes(stored_as(p, n));
}

int kernel_carried(const kernel *k)
{
    for (int i = 0; i < k->n_stage; i++)
        if (stage_carries(&k->stage[i]))
            return k->n_shared - 1;
    return -1;
}

/* The axis of the scan is in no subscript of the result: each trip writes over the one before. */
bool stage_keeps_last(const stage *s)
{
    return stage_carries(s) && !(stage_axes(s, MAX_LOADS) >> s->value->axis & 1);
}

/* Plans that judge others hold reals in f64. */
dtype stored_as(const plan *p, const node *n)
{
    const bool real = dtype_class(n->type.dtype) == D_REAL;
    return p->reference && real && !node_is_leaf(n) ? TS_F64 : n->type.dtype;
}

const expr *stage_fold(const stage *s)
{
    return x_find_fold(s->value);
}

int stage_states(const stage *s)
{
    const expr *fold = stage_fold(s);
    return !fold ? 0 : fold->kind == X_SCAN ? fold->n_state : 1;
}

const node *stage_value(const stage *s, int load)
{
    return load == MAX_LOADS ? s->node : s->load[load]->from;
}

void kernel_note(plan *p, kernel *k, const char *line)
{
    k->notes = arena_format(&p->mem, "%s%s\n", k->notes, line);
}

int kernel_stage(const kernel *k, const node *n)
{
    int i = k->n_stage - 1;
    while (i >= 0 && k->stage[i].node != n)
        i--;
    return i;
}

const expr *const *stage_places(const stage *s, int load)
{
    return load == MAX_LOADS ? s->store : s->load[load]->arg;
}

static uint32_t axes_among(const expr *const *sub, int n) /* that any of these walks */
{
    uint32_t axes = 0;
    for (int i = 0; i < n; i++)
        axes |= x_axes(sub[i]);
    return axes;
}

uint32_t stage_axes(const stage *s, int load)
{
    return axes_among(stage_places(s, load), stage_value(s, load)->type.rank);
}

uint32_t x_axes_of(const expr *load)
{
    return axes_among(load->arg, load->n);
}

/* As products do: several operands under a fold, one of which has not all axes of the result and is therefore read
 * again. */
bool stage_contracts(const stage *s)
{
    const expr *fold = stage_fold(s), *load[MAX_LOADS];
    const int n = fold ? x_loads(fold, load, MAX_LOADS) : 0;
    uint32_t result = 0;
    for (int a = 0; a < s->n_result; a++)
        if (s->extent[a] > 1)
            result |= 1u << a;
    for (int i = 0; i < n; i++)
        if (n > 1 && (x_axes_of(load[i]) & result) != result)
            return true;
    return false;
}

/* A choice between the load and a number, as padding makes: inside the border the load, outside a constant. */
static const expr *find_guard(const expr *x, const expr *load)
{
    const bool guard = x_is_choice(x) && ((x_same(x->arg[1], load) && x->arg[2]->kind == X_LIT) ||
                                          (x_same(x->arg[2], load) && x->arg[1]->kind == X_LIT));
    if (guard)
        return x_axes(x) == x_axes(load) ? x : NULL;
    for (int i = 0; x->kind != X_LOAD && i < x->n; i++) {
        const expr *found = find_guard(x->arg[i], load);
        if (found)
            return found;
    }
    return NULL;
}

/* Whether load is also read where nothing guards it. */
static bool read_beside(const expr *x, const expr *guard, const expr *load)
{
    if (x_same(x, guard))
        return false;
    for (int i = 0; i < x->n; i++)
        if (read_beside(x->arg[i], guard, load))
            return true;
    return x_same(x, load);
}

const expr *stage_guard(const stage *s, int load)
{
    const expr *guard = find_guard(s->value, s->load[load]);
    return guard && !read_beside(s->value, guard, s->load[load]) ? guard : NULL;
}

bool expr_reads(const expr *x, const expr *load)
{
    const int n = x_is_choice(x) ? 1 : x->n;
    for (int i = 0; i < n; i++)
        if (expr_reads(x->arg[i], load))
            return true;
    return x_same(x, load);
}

/* Conditions x < 1, x < 2, ... between what is loaded, or zeros among it, where x is the axis, axis % n or
 * axis / run % n, whose numbers are 0..n-1 */
typedef struct choices {
    int axis;
    int64_t extent, n, run;
    uint32_t bounds;
    bool loaded; /* one is between values that are both loaded: only there a choice at every element costs */
} choices;

static const expr *divided(const expr *x, const char *how, int64_t *by) /* x itself and by as it was: it is not */
{
    if (!x_is_call(x, how) || x->arg[1]->kind != X_LIT)
        return x;
    *by = x->arg[1]->whole;
    return x->arg[0];
}

/* Choices of more than 16 would make as many copies of the loop's text; a choice between two halves is cheap. */
static void note_choice(choices *c, const expr *x)
{
    enum { MOST = 16 };
    const bool below = x_is_call(x, "lt") && x->arg[1]->kind == X_LIT;
    int64_t n = c->extent, run = 1, bound = below ? x->arg[1]->whole : 0;
    const expr *rest = below ? divided(x->arg[0], "mod", &n) : x, *a = below ? divided(rest, "floordiv", &run) : x;
    if (rest == a && a == (below ? x->arg[0] : NULL) && n > MOST && n == 2 * bound)
        n = 2, run = bound, bound = 1;
    else if (below && rest == x->arg[0] && run > 1)
        n = n % run ? 0 : n / run;
    if (a->kind == X_AXIS && a->axis == c->axis && n <= MOST && bound > 0 && bound < n)
        c->n = n, c->run = run, c->bounds |= 1u << bound;
}

static void find_choices(choices *c, const expr *x)
{
    const bool first = x_is_choice(x) && x_count(x->arg[1], X_LOAD),
               second = x_is_choice(x) && x_count(x->arg[2], X_LOAD);
    c->loaded = c->loaded || (first && second);
    if (first || second)
        note_choice(c, x->arg[0]);
    for (int i = 0; x->kind != X_LOAD && i < x->n; i++)
        find_choices(c, x->arg[i]);
}

/* All bounds 1..n-1 must be there, so that every number of the axis takes exactly one branch: a concat of n. */
int stage_choice(const stage *s, int axis, int64_t *run)
{
    choices c = {.axis = axis, .extent = s->extent[axis]};
    find_choices(&c, s->value);
    const bool is = c.n && c.loaded && c.bounds == (1u << c.n) - 2;
    if (run)
        *run = is ? c.run : 1;
    return is ? (int)c.n : 0;
}

static void find_loads(arena *mem, stage *s) /* those under the fold first */
{
    const expr *load[MAX_LOADS], *all[MAX_LOADS], *fold = stage_fold(s);
    const int total = x_loads(s->value, all, MAX_LOADS);
    int n = fold ? x_loads(fold, load, MAX_LOADS) : 0;
    MUST(total <= MAX_LOADS);
    s->n_folded = n;
    for (int i = 0; i < total; i++) {
        int k = 0;
        while (k < n && !x_same(load[k], all[i]))
            k++;
        if (k == n)
            load[n++] = all[i];
    }
    s->n_load = n;
    s->load = arena_array(mem, (size_t)n + 1, sizeof *s->load);
    memcpy(s->load, load, (size_t)n * sizeof *load);
}

void stage_finish(plan *p, stage *s)
{
    s->value = x_share(&p->mem, s->value);
    find_loads(&p->mem, s);
}

static int64_t longer(int64_t step, const layout *y, const expr *const *sub, int axis)
{
    for (int i = 0; i < y->n; i++)
        if (x_axes(sub[y->digit[i].dim]) >> axis & 1 && y->digit[i].step > step)
            step = y->digit[i].step;
    return step;
}

int64_t stage_block(const plan *p, const stage *s, int axis)
{
    const expr *load[MAX_LOADS];
    const int n = x_loads(s->value, load, MAX_LOADS);
    int64_t step = longer(1, &p->buffer[s->node->id].layout, s->store, axis);
    for (int i = 0; i < n && i < MAX_LOADS; i++)
        step = longer(step, &p->buffer[load[i]->from->id].layout, load[i]->arg, axis);
    return step;
}

int axes_last(uint32_t axes)
{
    return axes ? 31 - __builtin_clz(axes) : -1;
}

int expr_given(const expr *value, uint32_t folds)
{
    const expr *fold = x_find_fold(value), *load[MAX_LOADS];
    uint32_t weight = 0, other = 0;
    const int n = fold ? x_loads(fold, load, MAX_LOADS) : 0;
    for (int i = 0; i < n && i < MAX_LOADS; i++) {
        const leaf *l = load[i]->from->leaf;
        *(l && l->kind != LEAF_INPUT ? &weight : &other) |= x_axes_of(load[i]) & ~folds;
    }
    return axes_last(other) > axes_last(weight) ? axes_last(weight) : -1;
}

int64_t nest_left_shared(const kernel *k, const stage *s, int axis, int l)
{
    int64_t left = s->extent[axis];
    for (int i = 0; axis < s->n_shared && i <= l; i++)
        if (k->shared.loop[i].axis == axis && k->shared.loop[i].step < left)
            left = k->shared.loop[i].step;
    return left;
}

int64_t nest_left(const kernel *k, const stage *s, int axis, int l)
{
    int64_t left = nest_left_shared(k, s, axis, k->shared.n - 1);
    for (int i = 0; i <= l; i++)
        if (s->nest.loop[i].axis == axis && s->nest.loop[i].step < left)
            left = s->nest.loop[i].step;
    return left;
}

int64_t plan_given(const plan *p)
{
    int64_t all = 0;
    for (int i = 0; i < p->n_input; i++)
        all = int_add(all, type_bytes(&p->input[i]->type), &all) ? all : INT64_MAX;
    return all;
}

int input_of(const plan *p, const node *n)
{
    if (p->buffer[n->id].where == IN_INPUT)
        return p->buffer[n->id].index;
    for (int i = 0; i < p->n_input; i++)
        if (p->input[i] == n)
            return i;
    return -1;
}

/* ---- scans ---- */
bool scan_planned(const plan *p, const node *n)
{
    return n->trip && !p->reference;
}

bool scan_reads_whole(const scan_form *f, int operand)
{
    return operand >= f->n_state + f->n_slice;
}

const expr *scan_reads(plan *p, const node *n, const expr *x)
{
    const expr *kept[MAX_PART];
    const scan_form f = scan_form_of(n);
    int count = 0;
    for (int i = 0; i < x->n; i++)
        if (!scan_reads_whole(&f, i) || !node_is_weight(n->in[i]))
            kept[count++] = x->arg[i];
    return x_routine(&p->mem, x->dtype, x->run, x->folds, count, kept);
}
