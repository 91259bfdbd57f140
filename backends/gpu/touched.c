/* touched.c - what first warps do not show: where in a sector the others begin, and how much of what nests walk is
 * there. */
#include "backends/gpu/figures.h"
#include "graph/affine/linear.h"
#include "schedule/explain_fit.h"
#include "schedule/nest.h"

#include <stdlib.h>
#include <string.h>

void gpu_begin(const plan *p, const kernel *k, const stage *s, int load, int upto, const int64_t *stride,
               double share[SECTOR])
{
    const int64_t first = fit_first(p, s, load) % SECTOR;
    memset(share, 0, SECTOR * sizeof *share);
    share[first < 0 ? first + SECTOR : first] = 1;
    for (int d = 1; d <= upto; d++) {
        const loop *q = fit_loop(k, s, d);
        const int64_t by = stride[q->axis] * q->step, trips = loop_trips(q) < SECTOR ? loop_trips(q) : SECTOR;
        double next[SECTOR] = {0};
        if (q->role->group || q->role->lanes || (d <= k->shared.n && q->axis >= s->n_shared) || trips < 2)
            continue;
        for (int i = 0; i < SECTOR; i++)
            for (int64_t t = 0; t < trips && share[i] > 0; t++)
                next[((i + t * by) % SECTOR + SECTOR) % SECTOR] += share[i] / (double)trips;
        memcpy(share, next, sizeof next);
    }
}

/* ---- conditions ---- */
/* Of all values of its axes those for which a sum of them is below 0, or not */
static double share_below(const stage *s, const linear *x, bool below, const int64_t *stride)
{
    enum { MOST = 1 << 16 };
    int64_t all = 1, count = 0;
    for (int i = 0; i < x->n; i++)
        if (x->atom[i]->kind != X_AXIS || llabs(stride[x->atom[i]->axis]) < SECTOR ||
            !int_mul(all, s->extent[x->atom[i]->axis], &all) || all > MOST)
            return 1;
    for (int64_t i = 0; i < all; i++) {
        int64_t rest = i, sum = x->plus;
        for (int j = 0; j < x->n; j++) {
            const int64_t extent = s->extent[x->atom[j]->axis];
            sum += rest % extent * x->by[j], rest /= extent;
        }
        count += (sum < 0) == below;
    }
    return all ? (double)count / (double)all : 1;
}

static double share_where(const stage *s, const expr *x,
                          const int64_t *stride) /* where a condition holds; comparisons as if independent */
{
    linear a, b, apart;
    const bool less = x->kind == X_CALL && !strcmp(x->fn->name, "lt"),
               most = x->kind == X_CALL && !strcmp(x->fn->name, "le");
    if (x->kind == X_CALL && !strcmp(x->fn->name, "and"))
        return share_where(s, x->arg[0], stride) * share_where(s, x->arg[1], stride);
    if ((!less && !most) || !linear_of(x->arg[0], &a) || !linear_of(x->arg[1], &b))
        return 1;
    if (less) /* a - b < 0 */
        return linear_add(&a, -1, &b, &apart) ? share_below(s, &apart, true, stride) : 1;
    return linear_add(&b, -1, &a, &apart) ? share_below(s, &apart, false, stride) : 1; /* not b - a < 0 */
}

/* Of whole trips of the outermost loop that cuts an axis, the part that has elements */
static double share_whole(const kernel *k, const stage *s, int axis)
{
    for (int d = 1; d <= fit_depth(k, s); d++) {
        const loop *q = fit_loop(k, s, d);
        if (q->axis == axis && q->step > 1 && (d > k->shared.n || axis < s->n_shared) && s->extent[axis] > 0)
            return (double)s->extent[axis] / (double)(int_ceil_div(s->extent[axis], q->step) * q->step);
    }
    return 1;
}

double gpu_whole(const kernel *k, const stage *s, uint32_t axes)
{
    double share = 1;
    for (int a = 0; a < s->n_axis; a++)
        share *= axes >> a & 1 ? share_whole(k, s, a) : 1;
    return share;
}

double gpu_there(const stage *s, int load, const int64_t *stride)
{
    const expr *guard = load < MAX_LOADS ? stage_guard(s, load) : NULL;
    double all = 1, own = 1;
    if (guard)
        return share_where(s, guard->arg[0], stride);
    if (load == MAX_LOADS || stage_fold(s) || expr_reads(s->value, s->load[load]))
        return 1;
    for (int a = 0; a < s->n_axis; a++) { /* the rest is read of other operands */
        all *= (double)s->extent[a];
        own *= x_axes(s->load[load]) >> a & 1 ? (double)s->extent[a] : 1;
    }
    const double have = (double)type_count(&s->load[load]->from->type);
    return (have < own ? have : own) / (all > 0 ? all : 1);
}
