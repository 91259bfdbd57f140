/* cost.c - what the work of stages and kernels comes to: operations, bytes, seconds. */
#include "schedule/plan/plan.h"

#include <math.h>

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
    return count_flops(x, &(seen){0});
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

double stage_stored(const stage *s)
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

double stage_read(const stage *s, const expr *load)
{
    const expr *x = s->value;
    const double results = stage_points(s, 0, s->n_result), folded = stage_points(s, s->n_result, s->n_axis),
                 whole = (double)type_count(&load->from->type);
    const bool update = x->kind == X_SCATTER && !starts_with(x, load);
    const double read = update ? folded : results * (stage_fold(s) ? folded : 1);
    if (stage_updates(s) && load->from == s->over)
        return x->fn ? stage_stored(s) : 0;
    return read < whole ? read : whole;
}

/* Elements of what loads[at] reads that no load before it has counted: of one value no more than it has */
static double first_read(const stage *s, const expr *const *load, int at)
{
    double left = (double)type_count(&load[at]->from->type);
    for (int i = 0; i < at && left > 0; i++)
        left -= load[i]->from == load[at]->from ? stage_read(s, load[i]) : 0;
    return fmax(fmin(stage_read(s, load[at]), left), 0);
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
            k->bytes += stage_stored(s) * ts_dtype_bytes(s->node->type.dtype);
        const int n = x_loads(s->value, load, MAX_LOADS);
        for (int j = 0; j < n && j < MAX_LOADS; j++) {
            const int from = kernel_stage(k, load[j]->from);
            if (from < 0 || from >= i)
                k->bytes += first_read(s, load, j) * ts_dtype_bytes(load[j]->from->type.dtype);
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
