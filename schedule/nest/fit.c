/* fit.c - working sets by interval arithmetic on subscripts, and what follows from them. */
#include "schedule/nest/fit.h"
#include "graph/affine/linear.h"
#include "schedule/nest/nest.h"
#include "schedule/plan/hazard.h"

#include <stdlib.h>
#include <string.h>

int fit_depth(const kernel *k, const stage *s)
{
    return k->shared.n + s->nest.n;
}

const loop *fit_loop(const kernel *k, const stage *s, int depth)
{
    return depth <= k->shared.n ? &k->shared.loop[depth - 1] : &s->nest.loop[depth - 1 - k->shared.n];
}

/* What each axis has left under the loops entered. */
static void find_left(const kernel *k, const stage *s, int depth, int64_t *left)
{
    memcpy(left, s->extent, (size_t)s->n_axis * sizeof *left);
    for (int d = 1; d <= depth; d++) {
        const loop *l = fit_loop(k, s, d);
        if (d <= k->shared.n && l->axis >= s->n_shared)
            continue;
        if (l->step < left[l->axis])
            left[l->axis] = l->step;
    }
}

/* ---- how many elements ---- */
/* The box that the subscripts span, or as many as there are combinations of the axes, whichever is less. */
static double count_elements(const stage *s, const expr *const *sub, const type *t, const int64_t *left)
{
    const uint32_t axes = x_axes_among(sub, t->rank);
    double box = 1, steps = 1;
    for (int i = 0; i < t->rank; i++) {
        const range r = x_range(sub[i], left);
        const int64_t low = r.low > 0 ? r.low : 0, high = r.high < t->dim[i] ? r.high : t->dim[i] - 1;
        box *= !r.known ? (double)t->dim[i] : high < low ? 0 : (double)(high - low + 1);
    }
    for (int a = 0; a < s->n_axis; a++)
        if (axes >> a & 1)
            steps *= (double)left[a];
    return box < steps ? box : steps;
}

/* ---- the values that a stage, or the kernel, touches ---- */
typedef struct part {
    const node *node;
    uint32_t axes;
    double bytes;
    bool scratch; /* lives within the kernel */
} part;
typedef struct parts { /* not on the stack, which may be small: to be freed */
    int n;
    part part[];
} parts;

static parts *parts_make(const kernel *k)
{
    size_t most = 1;
    for (int i = 0; i < k->n_stage; i++)
        most += (size_t)k->stage[i].n_load + 1;
    size_t bytes;
    MUST(size_mul(most, sizeof(part), &bytes));
    parts *all = calloc(1, sizeof *all + bytes);
    MUST(all);
    return all;
}

static part *find_part(parts *all, const node *n)
{
    int i = 0;
    while (i < all->n && all->part[i].node != n)
        i++;
    if (i == all->n)
        all->part[all->n++] = (part){.node = n};
    return &all->part[i];
}

/* What load `load` of the stage reads, or, behind the last, what the stage stores */
static void add_part(const plan *p, const kernel *k, const stage *s, int load, const int64_t *left, parts *all)
{
    const node *n = load < s->n_load ? s->load[load]->from : s->node;
    const expr *const *sub = load < s->n_load ? s->load[load]->arg : s->store;
    if (stage_updates(s) && n == s->over) /* the same elements as those stored */
        return;
    if (stage_updates(s) && load == s->n_load)
        sub = s->value->arg + 2;
    part *q = find_part(all, n);
    const double width = stored_width(p, n), most = width * (double)type_count(&n->type);
    q->bytes += width * count_elements(s, sub, &n->type, left);
    q->bytes = q->bytes < most ? q->bytes : most;
    q->axes |= x_axes_among(sub, n->type.rank);
    q->scratch = q->scratch || kernel_hands_on(k, n);
}

static void stage_parts(const plan *p, const kernel *k, const stage *s, int depth, parts *all)
{
    int64_t left[MAX_AXIS];
    find_left(k, s, depth, left);
    all->n = 0;
    for (int i = 0; i <= s->n_load; i++)
        add_part(p, k, s, i, left, all);
}

static parts *find_parts(const plan *p, const kernel *k, const stage *s, int depth)
{
    parts *all = parts_make(k);
    if (s)
        return stage_parts(p, k, s, depth, all), all;
    parts *one = parts_make(k);
    for (int i = 0; i < k->n_stage; i++) {
        stage_parts(p, k, &k->stage[i], depth, one);
        for (int j = 0; j < one->n; j++) {
            part *q = find_part(all, one->part[j].node);
            q->bytes = q->bytes > one->part[j].bytes ? q->bytes : one->part[j].bytes;
            q->axes |= one->part[j].axes & ((1u << k->n_shared) - 1);
            q->scratch = one->part[j].scratch;
        }
    }
    free(one);
    return all;
}

double fit_bytes(const plan *p, const kernel *k, const stage *s, int depth)
{
    double sum = 0;
    parts *all = find_parts(p, k, s, depth);
    for (int i = 0; i < all->n; i++)
        sum += all->part[i].bytes;
    free(all);
    return sum;
}

/* How many cores have their own piece of a part at that depth: as many as there are trips along which it moves. */
static double cores_of(const plan *p, const kernel *k, int depth, const part *q)
{
    const nest *t = nest_outer(k);
    const int units = nest_chunks(k);
    int64_t trips = 1;
    for (int l = 0; l < t->n && l < depth; l++)
        if ((units ? l < units : t->loop[l].role->parallel) && (q->scratch || q->axes >> t->loop[l].axis & 1))
            trips *= loop_trips(&t->loop[l]);
    return (double)(trips < p->threads ? trips : p->threads);
}

double fit_bytes_shared(const plan *p, const kernel *k, const stage *s, int depth)
{
    double sum = 0;
    parts *all = find_parts(p, k, s, depth);
    for (int i = 0; i < all->n; i++)
        sum += all->part[i].bytes * cores_of(p, k, depth, &all->part[i]);
    free(all);
    return sum;
}

int fit_level(const plan *p, const kernel *k, const stage *s, int depth, double *share)
{
    const double own = fit_bytes(p, k, s, depth);
    for (int level = 0; level <= target_last(p->on); level++) {
        const double bytes = p->on->level[level].shared ? fit_bytes_shared(p, k, s, depth) : own;
        *share = bytes / (double)target_bytes(p->on, level);
        if (*share <= 1)
            return level;
    }
    return p->on->n_level - 1;
}

/* ---- traffic ---- */
/* Is what the loop does not move along still there in its next trip? What it moves along has passed by meanwhile: once
 * if the next loop walks it, twice, the old and the new, if every trip of that loop needs all of it. */
static bool stays(const plan *p, const kernel *k, const stage *s, int depth, int level)
{
    double bytes = 0;
    const int most = s ? fit_depth(k, s) : k->shared.n;
    parts *all = find_parts(p, k, s, depth), *around = find_parts(p, k, s, depth ? depth - 1 : 0);
    for (int i = 0; i < all->n; i++) {
        const part *q = &all->part[i];
        const bool moves = depth && q->axes >> fit_loop(k, s, depth)->axis & 1;
        const bool walked = depth < most && q->axes >> fit_loop(k, s, depth + 1)->axis & 1;
        const double two = 2 * q->bytes < around->part[i].bytes ? 2 * q->bytes : around->part[i].bytes;
        bytes += (moves && !walked ? two : q->bytes) * (p->on->level[level].shared ? cores_of(p, k, depth, q) : 1);
    }
    free(all), free(around);
    return bytes <= (double)target_bytes(p->on, level);
}

/* A value comes once, and again for every trip of a loop that does not move along it, if a loop within that one does,
 * all of them outside what the cache holds. */
static double come_again(const kernel *k, const stage *s, int depth, uint32_t axes)
{
    double times = 1;
    int last = depth;
    while (last > 0 && !(axes >> fit_loop(k, s, last)->axis & 1))
        last--;
    for (int d = 1; d < last; d++)
        if (!(axes >> fit_loop(k, s, d)->axis & 1))
            times *= (double)loop_trips(fit_loop(k, s, d));
    return times;
}

static double traffic_from(const plan *p, const kernel *k, const stage *s, int depth, bool scratch)
{
    double sum = 0;
    parts *all = find_parts(p, k, s, 0);
    for (int i = 0; i < all->n; i++)
        if (scratch || !all->part[i].scratch)
            sum += all->part[i].bytes * come_again(k, s, depth, all->part[i].axes);
    free(all);
    return sum;
}

double fit_traffic(const plan *p, const kernel *k, int level)
{
    for (int d = 0; d <= k->shared.n && k->n_stage > 1; d++)
        if (stays(p, k, NULL, d, level))
            return traffic_from(p, k, NULL, d, false);
    double sum = 0;
    for (int i = 0; i < k->n_stage; i++) {
        const stage *s = &k->stage[i];
        int d = k->n_stage > 1 ? k->shared.n + 1 : 0;
        while (d < fit_depth(k, s) && !stays(p, k, s, d, level))
            d++;
        sum += traffic_from(p, k, s, d, true);
    }
    return sum;
}

/* ---- edges ---- */
/* Extent of an axis once every trip of its loops from number l on is a full one. */
static double padded(const plan *p, const stage *s, int axis, int l, int64_t left)
{
    while (l < s->nest.n && s->nest.loop[l].axis != axis)
        l++;
    if (l == s->nest.n)
        return (double)left;
    const loop *q = &s->nest.loop[l];
    const int64_t lane = nest_lanes(p, s);
    if (q->role->lanes)
        return (double)((left + lane - 1) / lane * lane);
    if (q->step == 1)
        return (double)left;
    const int64_t step = q->step < left ? q->step : left;
    return (double)((left + step - 1) / step) * padded(p, s, axis, l + 1, step);
}

double fit_waste(const plan *p, const kernel *k, const stage *s)
{
    double real = 1, full = 1;
    int64_t left[MAX_AXIS];
    find_left(k, s, k->shared.n, left);
    for (int a = 0; a < s->n_axis; a++)
        real *= (double)left[a], full *= padded(p, s, a, 0, left[a]);
    return real > 0 ? full / real - 1 : 0;
}

const affine *fit_place(space *sp, const plan *p, const stage *s, int load)
{
    const node *from = stage_value(s, load);
    const affine *at[MAX_AXIS], *sub[MAX_RANK];
    const layout *y = &p->buffer[from->id].layout;
    if (load < MAX_LOADS && s->leaf && s->leaf[load] >= 0)
        y = &p->leaf[s->leaf[load]].layout;
    for (int a = 0; a < s->n_axis; a++)
        at[a] = affine_var(sp, var_add(sp, "", 0, s->extent[a] > 1 ? s->extent[a] - 1 : 1));
    for (int i = 0; i < from->type.rank; i++)
        sub[i] = affine_of(sp, stage_places(s, load)[i], at);
    return layout_offset(sp, y, sub);
}

int64_t fit_stride(const plan *p, const stage *s, int load, int axis)
{
    arena mem = {0};
    const int64_t n = affine_coef(fit_place(&(space){.mem = &mem}, p, s, load), axis);
    arena_free(&mem);
    return n * ts_dtype_bytes(stage_value(s, load)->type.dtype);
}
