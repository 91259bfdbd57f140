/* guess_prefetch.c - what is fetched one trip ahead when nobody said so: slices that the hardware does not follow on
 * its own, because they lie in short pieces or come too late. How large is shares of the caches that a machine has: a
 * half is a panel and the one behind it, a quarter or an eighth leaves the rest to what else is at work; values of more
 * than two caches are not there any more when they are read. */
#include "backends/cpu/guess_parts.h"
#include "schedule/nest/stride.h"

int64_t guess_stride(const plan *p, const stage *s, int load, int axis)
{
    ENDED_BY(arena_free) arena mem = {0};
    const affine *sum = stride_place(&(space){.mem = &mem}, p, s, load);
    int64_t c = affine_coef(sum, axis);
    for (int i = 0; i < sum->n; i++)
        if (sum->t[i].a->kind != A_VAR && stage_axes(s, load) >> axis & 1 && !c)
            c = -1;
    return c;
}

static int64_t elements_under(const kernel *k, const stage *s, int load, int l)
{
    const uint32_t axes = stage_axes(s, load);
    int64_t n = 1;
    for (int a = 0; a < s->n_axis; a++)
        if (axes >> a & 1)
            n *= nest_left(k, s, a, l);
    return n;
}

static void fetch(stage *s, bool shared, int l, int load, int which)
{
    s->staging[s->n_staging++] = (staging){
        .shared = shared, .loop = l, .load = load, .space = &cpu_space[which], .stages = 2, .derived = true};
}

/* Multiply-adds of one trip */
static double work_under(const kernel *k, const stage *s, int l)
{
    double work = stage_flops(s) / 2 / stage_points(s, 0, s->n_axis);
    for (int a = 0; a < s->n_axis; a++)
        work *= (double)nest_left(k, s, a, l);
    return work;
}

/* Panels of weights, read from memory once; they need not push values out of the third cache behind them. Rows that
 * multiply for less time than a panel takes to come from there wait anyway, for lines that the hardware follows. */
static void fetch_weights(const plan *p, kernel *k, stage *s)
{
    for (int j = 0; j < s->n_folded && s->n_staging < MAX_STAGING; j++) {
        int l = nest_tile(s) - 1;
        if (!node_is_weight(s->load[j]->from))
            continue;
        while (l >= 0 && !(x_axes_of(s->load[j]) >> s->nest.loop[l].axis & 1))
            l--;
        if (l < 0)
            continue;
        const int64_t slice = elements_under(k, s, j, l) * ts_dtype_bytes(s->load[j]->from->type.dtype);
        const double multiply = work_under(k, s, l) / p->on->lanes[s->node->type.dtype] / p->on->cost.fma_per_cycle;
        if (multiply * p->on->level[L3].bytes_per_cycle >= (double)slice && slice <= target_bytes(p->on, L2) / 2)
            fetch(s, false, l, j, p->streamed && p->on->passes_last ? CPU_NTA : CPU_L2);
    }
}

/* One dimension of it lies in one piece, along an axis that a tile walks on: sub, and the type of what it is in. */
static bool in_rows(const plan *p, const node *n, const expr *const *sub, int axis)
{
    const layout *y = &p->buffer[n->id].layout;
    const expr *last = y->n && y->digit[y->n - 1].step == 1 ? sub[y->digit[y->n - 1].dim] : NULL;
    return last && last->kind == X_AXIS && last->axis != axis;
}

static bool copied(const stage *s, int load)
{
    for (int i = 0; i < s->n_staging; i++)
        if (s->staging[i].load == load)
            return true;
    return false;
}

/* What there is of a value in a run of middling extents */
static int64_t bytes_of(const plan *p, const node *n)
{
    return (int64_t)((double)type_bytes(&n->type) * extents_share(p, n));
}

/* What the next panel's copy will read of a large value; a copy that waits for every line takes four times as long */
static void fetch_copies(const plan *p, kernel *k, stage *s)
{
    for (int i = 0, n = s->n_staging; i < n && s->n_staging < MAX_STAGING; i++) {
        const staging *g = &s->staging[i];
        if (g->shared || !(x_axes_of(s->load[g->load]) >> s->nest.loop[g->loop].axis & 1))
            continue;
        const type *t = &s->load[g->load]->from->type;
        const int64_t slice = elements_under(k, s, g->load, g->loop) * ts_dtype_bytes(t->dtype);
        if (bytes_of(p, s->load[g->load]->from) > 2 * target_bytes(p->on, L2) && slice <= target_bytes(p->on, L2) / 4)
            fetch(s, false, g->loop, g->load, CPU_L2);
    }
}

/* Into which cache the rows of a value that the next tile reads or writes are worth fetching; CPU_COPY: none. What is
 * read when the sums are there, as a residual, a tile has nothing else to do than to wait for. */
static int space_of_rows(const plan *p, const stage *s, int load)
{
    const int64_t bytes = bytes_of(p, stage_value(s, load));
    if (bytes > 2 * target_bytes(p->on, L2))
        return CPU_L2;
    return load != MAX_LOADS && load >= s->n_folded && bytes > 2 * target_bytes(p->on, L1) ? CPU_L1 : CPU_COPY;
}

/* The next rows that tiles read or write in short pieces, which the hardware does not follow: of large values, and of
 * those that sums wait for */
static void fetch_rows(const plan *p, kernel *k, stage *s)
{
    const int l = nest_tile(s) - 1;
    const int axis = l >= 0 ? s->nest.loop[l].axis : -1;
    if (l < 0 || s->folds >> axis & 1 || loop_trips(&s->nest.loop[l]) < 2 || nest_unrolled(s) == nest_tile(s))
        return;
    for (int j = 0; j <= s->n_load && s->n_staging < MAX_STAGING; j++) {
        const bool result = j == s->n_load;
        const int load = result ? MAX_LOADS : j;
        const node *n = stage_value(s, load);
        if (result ? s->scratch || s->over : copied(s, j) || node_is_leaf(n))
            continue;
        const int64_t slice = elements_under(k, s, load, l) * ts_dtype_bytes(n->type.dtype);
        const int which = space_of_rows(p, s, load);
        if (which != CPU_COPY && stage_axes(s, load) >> axis & 1 && in_rows(p, n, stage_places(s, load), axis) &&
            slice <= target_bytes(p->on, L2) / 8 && work_under(k, s, l) >= 2 * (double)slice)
            fetch(s, false, l, load, which);
    }
}

/* Whether a trip of a shared loop takes short pieces of rows, of which the next trip takes the next. */
static bool in_pieces(const plan *p, const kernel *k, const stage *s, int load, int l)
{
    const loop *by = &k->shared.loop[l];
    const int64_t step = guess_stride(p, s, load, by->axis) * by->step;
    bool apart = false;
    for (int a = 0; a < s->n_axis; a++)
        apart = apart || (nest_left_shared(k, s, a, l) > 1 && guess_stride(p, s, load, a) > step);
    return step > 0 && apart && loop_trips(by) > 1;
}

/* Of products among several stages, what a shared loop cuts rows into, as heads of attention cut those of queries, keys
 * and values. */
static void fetch_pieces(const plan *p, kernel *k, stage *s)
{
    for (int j = 0; j <= s->n_load && s->n_staging < MAX_STAGING; j++) {
        const int load = j == s->n_load ? MAX_LOADS : j;
        const node *n = stage_value(s, load);
        const bool at_hand = (load == MAX_LOADS ? s->scratch : node_is_leaf(n) || kernel_stage(k, n) >= 0) ||
                             type_bytes(&n->type) <= target_bytes(p->on, L2) / 8;
        int64_t slice = ts_dtype_bytes(n->type.dtype);
        int l = 0;
        while (!at_hand && l < k->shared.n && !in_pieces(p, k, s, load, l))
            l++;
        if (at_hand || l == k->shared.n)
            continue;
        for (int a = 0; a < s->n_axis; a++)
            slice *= stage_axes(s, load) >> a & 1 ? nest_left_shared(k, s, a, l) : 1;
        if (slice <= target_bytes(p->on, L2) / 8)
            fetch(s, true, l, load, CPU_L2);
    }
}

void guess_prefetch(const plan *p, kernel *k)
{
    for (int i = 0; i < k->n_stage; i++)
        for (int j = 0; j < k->stage[i].n_staging; j++)
            if (!staging_copies(&k->stage[i].staging[j]))
                return;
    for (int i = 0; i < k->n_stage; i++) {
        stage *s = &k->stage[i];
        if (!stage_fold(s) || !stage_contracts(s) || p->reference)
            continue;
        if (k->n_stage > 1) {
            fetch_pieces(p, k, s);
            continue;
        }
        fetch_copies(p, k, s);
        fetch_weights(p, k, s);
        fetch_rows(p, k, s);
    }
}
