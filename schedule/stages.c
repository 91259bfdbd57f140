/* stages.c - the second half of the fusion pass: clusters of items become kernels of stages; axes of one element go,
 * neighbours that every access walks as one are merged (batch and row of a product become m). */
#include "graph/ir/custom.h"
#include "schedule/extents.h"
#include "schedule/fuse.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- stages ---- */
/* A fold of several values in a stream is walked along with the other stages, and then is a scan whose last value
 * stays. */
static const expr *as_scan(arena *mem, const expr *x, int axis)
{
    const int n = x->n_state;
    return x_scan(mem, 0, axis, n, x->arg, x->arg + n, x_result(x));
}

/* dim: the result's dimension that the axis walks. An axis that streams is none of these; it stands for dimension 0. */
static void add_axis(stage *s, const item *it, int i, bool folded)
{
    if (folded)
        s->folds |= 1u << s->n_axis;
    else
        s->n_result = s->n_axis + 1, s->dim[s->n_axis] = i < it->node->type.rank ? i : 0;
    s->varies[s->n_axis] = it->varies[i], s->extent[s->n_axis++] = it->extent[i];
}

/* low, count: the box of the node's value that is read at all (demanded region); axes start at 0 and are shifted by low
 * where values are loaded and stored. */
static void make_stage(fuser *f, const item *it, int shared, stage *s)
{
    arena *mem = &f->p->mem;
    const expr *axis[MAX_AXIS];
    const type *t = &it->node->type;
    const bool streams = shared && it->stream >= t->rank;
    int walked[MAX_AXIS];
    const int n_walked = stream_axes(f, it, walked);
    *s = (stage){.node = it->node, .scratch = !it->root};
    for (int i = 0; i < t->rank; i++)
        s->low[i] = it->low[i], s->count[i] = it->extent[i];
    for (int i = 0, next = 0; i < it->n_axis; i++) {
        const bool folded = i >= t->rank;
        const expr *low = x_cast(mem, TS_I64, x_whole(mem, folded ? 0 : it->low[i]));
        const bool scanned = it->value->kind == X_SCAN && !it->value->folds && it->value->axis == i;
        if (streams && next < n_walked && walked[next] == it->stream)
            axis[it->stream] = x_axis(mem, s->n_axis), add_axis(s, it, it->stream, false), next++;
        if (streams && i == it->stream)
            continue;
        axis[i] = low;
        if (it->extent[i] == 1 && !folded && !scanned)
            continue;
        axis[i] = folded || !it->low[i] ? x_axis(mem, s->n_axis) : x2(mem, "add", x_axis(mem, s->n_axis), low);
        add_axis(s, it, i, folded), next++;
    }
    s->n_shared = shared;
    for (int i = 0; i < t->rank; i++)
        s->store[i] = axis[i];
    s->value = x_rename(mem, it->value, it->n_axis, axis);
    if (streams)
        s->value = as_scan(mem, s->value, axis[it->stream]->axis);
    s->value = x_share(mem, s->value);
    if (stage_nested(s) && !stage_fold(s)) /* a choice by an axis of one element may leave nothing to fold */
        s->n_axis = s->n_result, s->folds = 0;
}

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
    uint32_t walked = 0;
    for (int i = 0; i < s->node->type.rank; i++)
        walked |= x_axes(s->store[i]);
    return stage_carries(s) && !(walked >> s->value->axis & 1);
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

uint32_t x_axes_of(const expr *load)
{
    uint32_t axes = 0;
    for (int i = 0; i < load->n; i++)
        axes |= x_axes(load->arg[i]);
    return axes;
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
    const expr *load[MAX_LOADS], *fold = stage_fold(s);
    int n = fold ? x_loads(fold, load, MAX_LOADS) : 0;
    const expr *all[MAX_LOADS];
    const int total = x_loads(s->value, all, MAX_LOADS);
    MUST(total <= MAX_LOADS);
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

/* ---- merging neighbouring axes ---- */
static void merge_in(arena *mem, stage *s, int a) /* axes a and a + 1 become one */
{
    const int64_t inner = s->extent[a + 1];
    const expr *axis[MAX_AXIS], *both = x_axis(mem, a);
    for (int i = 0; i < s->n_axis; i++)
        axis[i] = x_axis(mem, i > a ? i - 1 : i);
    axis[a] = x2(mem, "floordiv", both, x_whole(mem, inner));
    axis[a + 1] = x2(mem, "mod", both, x_whole(mem, inner));
    s->value = x_rename(mem, s->value, s->n_axis, axis);
    for (int i = 0; i < s->node->type.rank; i++)
        s->store[i] = x_rename(mem, s->store[i], s->n_axis, axis);
    s->extent[a] *= inner, s->varies[a] = extents_scaled(&s->varies[a], inner);
    for (int i = a + 1; i + 1 < s->n_axis; i++)
        s->extent[i] = s->extent[i + 1], s->varies[i] = s->varies[i + 1];
    for (int i = a; i + 1 < s->n_result; i++)
        s->dim[i] = s->dim[i + 1];
    const uint32_t low = (1u << (a + 1)) - 1;
    s->folds = (s->folds & low) | ((s->folds >> 1) & ~low);
    s->n_axis--;
    if (a + 1 < s->n_result)
        s->n_result--;
    if (a + 1 < s->n_shared)
        s->n_shared--;
}

/* Axes that the value uses as numbers, outside subscripts: guards of padding, masks. Merged, each use would
 * be a division. */
static uint32_t bare_axes(const expr *x)
{
    uint32_t axes = x->kind == X_AXIS ? 1u << x->axis : 0;
    for (int i = 0; x->kind != X_LOAD && i < x->n; i++)
        axes |= bare_axes(x->arg[i]);
    return axes;
}

static bool merges(fuser *f, stage *s, int a) /* in place, whatever comes of it */
{
    if (stage_carries(s) && (s->value->axis == a || s->value->axis == a + 1))
        return false;
    if (s->varies[a + 1].by || s->varies[a].per > 1 || bare_axes(s->value) & 3u << a || stage_block(f->p, s, a) > 1 ||
        stage_block(f->p, s, a + 1) > 1)
        return false;
    merge_in(&f->p->mem, s, a);
    return order_linear(f->p, s);
}

static bool try_merge(fuser *f, stage *s, int n, int a)
{
    stage *trial = calloc((size_t)n + 1, sizeof *trial); /* not on the stack, which may be small */
    bool ok = true;
    MUST(trial);
    for (int i = 0; ok && i < n; i++)
        trial[i] = s[i], ok = merges(f, &trial[i], a);
    if (ok)
        memcpy(s, trial, (size_t)n * sizeof *trial);
    free(trial);
    return ok;
}

static void merge_axes(fuser *f, kernel *k)
{
    for (int i = 0; i < k->n_stage; i++)
        if (!stage_nested(&k->stage[i]) || !order_linear(f->p, &k->stage[i]))
            return; /* nothing to gain where accesses are not linear anyway */
    for (int a = 0; a + 1 < k->n_shared;)
        if (try_merge(f, k->stage, k->n_stage, a))
            k->n_shared--;
        else
            a++;
    for (int i = 0; i < k->n_stage; i++) {
        stage *s = &k->stage[i];
        for (int a = s->n_shared; a + 1 < s->n_result;)
            if (!try_merge(f, s, 1, a))
                a++;
    }
}

/* ---- costs ---- */
enum { MAX_SEEN = 512 };
typedef struct seen {
    int n;
    const expr *x[MAX_SEEN];
} seen;

static double count_flops(const expr *x, seen *s) /* shared parts are computed once */
{
    for (int i = 0; i < s->n; i++)
        if (s->x[i] == x)
            return 0;
    if (s->n < MAX_SEEN)
        s->x[s->n++] = x;
    const int parts = x->kind == X_SCAN ? 2 * x->n_state + 1 : x->kind == X_LOAD ? 0 : x->n; /* few merges are made */
    double n = x->kind == X_CALL && dtype_class(x->dtype) == D_REAL ? x->fn->cost : x->kind == X_FOLD ? x->fn->cost : 0;
    for (int i = 0; i < parts; i++)
        n += count_flops(x->arg[i], s);
    return n;
}

/* For one element; a fold counts its function once, for one step. */
static double flops_of(const expr *x)
{
    seen s = {0};
    return count_flops(x, &s);
}

/* Product of the extents of axes [from, to); a double, since counts of large models pass 2^63. */
double stage_points(const stage *s, int from, int to)
{
    double n = 1;
    for (int a = from; a < to; a++)
        n *= (double)s->extent[a];
    return n;
}

/* A fold of m elements takes m - 1 further steps beside the one that flops_of counts. */
double stage_flops(const stage *s)
{
    const expr *fold = stage_fold(s);
    const double results = stage_points(s, 0, s->n_result), folded = stage_points(s, s->n_result, s->n_axis);
    if (s->value->kind == X_SCATTER)
        return results * flops_of(s->value->arg[0]) +
               folded * (flops_of(s->value->arg[1]) + (s->value->fn ? s->value->fn->cost : 0));
    return results * (flops_of(s->value) + (fold ? flops_of(fold) * (folded - 1) : 0));
}

bool stage_updates(const stage *s)
{
    const expr *x = s->value;
    return x->kind == X_SCATTER && x->arg[0]->kind == X_LOAD && x->arg[0]->from == s->over;
}

static double stored_elements(const stage *s)
{
    const double results = stage_points(s, 0, s->n_result), updates = stage_points(s, s->n_result, s->n_axis);
    if (stage_updates(s))
        return results < updates ? results : updates;
    return results * (s->n_piece ? s->n_piece : 1) / (stage_keeps_last(s) ? (double)s->extent[s->value->axis] : 1);
}

static bool starts_with(const expr *scatter, const expr *load)
{
    const expr *start[MAX_LOADS];
    const int n = x_loads(scatter->arg[0], start, MAX_LOADS);
    for (int i = 0; i < n && i < MAX_LOADS; i++)
        if (x_same(start[i], load))
            return true;
    return false;
}

static double read_elements(const stage *s, const expr *load)
{
    const expr *x = s->value;
    const double results = stage_points(s, 0, s->n_result), folded = stage_points(s, s->n_result, s->n_axis),
                 whole = (double)type_count(&load->from->type);
    const bool update = x->kind == X_SCATTER && !starts_with(x, load);
    const double read = update ? folded : results * (stage_fold(s) ? folded : 1);
    if (stage_updates(s) && load->from == s->over)
        return x->fn ? stored_elements(s) : 0;
    return read < whole ? read : whole;
}

/* Bytes that cannot be avoided: each value once, and no more of it than is read. What stays in scratch is none. */
void kernel_measure(kernel *k)
{
    k->flops = k->bytes = 0;
    for (int i = 0; i < k->n_stage; i++) {
        const stage *s = &k->stage[i];
        const expr *load[MAX_LOADS];
        k->flops += stage_flops(s);
        if (!s->scratch)
            k->bytes += stored_elements(s) * ts_dtype_bytes(s->node->type.dtype);
        const int n = x_loads(s->value, load, MAX_LOADS);
        for (int j = 0; j < n && j < MAX_LOADS; j++) {
            bool inside = false;
            for (int o = 0; o < i; o++)
                inside = inside || k->stage[o].node == load[j]->from;
            if (!inside)
                k->bytes += read_elements(s, load[j]) * ts_dtype_bytes(load[j]->from->type.dtype);
        }
    }
}

static double per_second(const target *t, double per_cycle) /* of all its workers; without bounds where none is known */
{
    const double workers = t->workers < t->places ? t->workers : t->places;
    const double all = per_cycle * workers * t->cost.cycles_per_second;
    return all > 0 ? all : INFINITY;
}

double kernel_seconds(const kernel *k, const target *on)
{
    const dtype d = k->stage[k->main].node->type.dtype;
    const double flops = per_second(on, 2 * on->cost.fma_per_cycle * (on->lanes[d] ? on->lanes[d] : 1)),
                 bytes = per_second(on, on->level[on->n_level - 1].bytes_per_cycle);
    return fmax(k->flops / flops, k->bytes / bytes);
}

/* A value that another kernel reads must lie in memory, though it is also read in its own. */
static void mark_outside(fuser *f)
{
    for (int i = 0; i < f->n; i++) {
        const item *r = f->item[f->need[i]->id];
        const expr *load[MAX_LOADS];
        if (!r || r->inlined)
            continue;
        const int n = x_loads(r->value, load, MAX_LOADS);
        for (int k = 0; k < n && k < MAX_LOADS; k++) {
            item *from = f->item[load[k]->from->id];
            if (from && from->kernel != r->kernel)
                from->outside = true;
        }
    }
}

static void note_region(plan *p, kernel *k)
{
    for (int i = 0; i < k->n_stage; i++) {
        const stage *s = &k->stage[i];
        for (int d = 0; d < s->node->type.rank; d++)
            if (s->count[d] != s->node->type.dim[d])
                k->notes = arena_format(&p->mem,
                                        "%s%s: of dimension %d of its result %lld of %lld are read, from %lld on; "
                                        "the others are not computed\n",
                                        k->notes, s->name, d, (long long)s->count[d], (long long)s->node->type.dim[d],
                                        (long long)s->low[d]);
    }
}

bool form_kernels(fuser *f, err *e)
{
    plan *p = f->p;
    p->kernel = arena_array(&p->mem, (size_t)f->n_kernel + 1, sizeof *p->kernel);
    p->buffer = arena_array(&p->mem, (size_t)p->g->n + 1, sizeof *p->buffer), p->n_buffer = p->g->n;
    for (int i = 0; i < f->n; i++)
        p->buffer[f->need[i]->id].where = NOWHERE, layout_rows(&p->buffer[f->need[i]->id].layout, &f->need[i]->type);
    for (int i = 0; i < p->n_input; i++) /* of those that nothing reads, too */
        layout_rows(&p->buffer[p->input[i]->id].layout, &p->input[i]->type);
    mark_outside(f);
    names_index(f);
    for (int i = 0; i < f->n_order; i++) {
        const cluster *c = &f->kernel[f->order[i]];
        kernel *k = &p->kernel[p->n_kernel++];
        *k = (kernel){.n_stage = c->n, .n_shared = c->n > 1 ? c->shared : 0, .notes = "", .rule = ""};
        k->site = item_site(f, c->member[0]);
        k->stage = arena_array(&p->mem, (size_t)c->n, sizeof *k->stage);
        for (int s = 0; s < c->n; s++) {
            const expr *load[MAX_LOADS];
            make_stage(f, c->member[s], k->n_shared, &k->stage[s]);
            const int loads = x_loads(k->stage[s].value, load, MAX_LOADS);
            if (loads > MAX_LOADS)
                return err_set(e, TS_UNSUPPORTED, "%s: a kernel that reads %d tensors, at most %d expected",
                               c->member[s]->node->op->name, loads, MAX_LOADS);
            if (c->n == 1 || c->member[s]->outside)
                k->stage[s].scratch = false;
        }
    }
    order_values(f);
    for (int i = 0; i < p->n_kernel; i++) {
        merge_axes(f, &p->kernel[i]);
        for (int s = 0; s < p->kernel[i].n_stage; s++)
            stage_finish(p, &p->kernel[i].stage[s]);
        names_give(f, &f->kernel[f->order[i]], &p->kernel[i]);
        kernel_measure(&p->kernel[i]);
        note_region(p, &p->kernel[i]);
    }
    return true;
}
