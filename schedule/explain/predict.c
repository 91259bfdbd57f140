/* predict.c - the time of a kernel from its loops, by the execution-cache-memory model of Treibig and Hager: cycles of
 * multiplying, which wait for the sums of the step before, and of what is loaded, from the first cache and then, one
 * after the other, from each level behind it. The longer hides most of the other; how much of it is seen is a rate of
 * the machine. Every figure is counted from the nest or is a rate; none is fitted. */
#include "schedule/explain/explain.h"
#include "schedule/nest/fit.h"
#include "schedule/nest/nest.h"
#include "schedule/nest/slice.h"

#include <math.h>

enum { MULTIPLY, LOADS, FIRST_LEVEL }; /* parts of the time; behind these one for each level that bytes come from */
enum { N_PART = FIRST_LEVEL + MAX_LEVEL };

/* Stores and loads of sums that find no register, for each multiply-add: beside them there are the columns of two
 * steps, of which one is loaded while the other is in use. */
static double spilled(const plan *p, const stage *s, const tile_facts *f)
{
    const loop *last = s->nest.n ? &s->nest.loop[nest_last(s)] : NULL;
    const int64_t columns = last && last->role->lanes ? nest_vectors(p, s, last) : 1;
    const double over = (double)(fit_registers(p, s) + columns) - p->on->n_register;
    return over > 0 ? 2 * over / (double)f->sums : 0;
}

/* Trips of the loops around the tile: each begins with cleared or loaded sums, ends when the last multiply-add is done,
 * and stores what there is. */
static double tiles_of(const kernel *k, const stage *s)
{
    double n = 1;
    for (int d = 1; d <= k->shared.n + (stage_fold(s) ? nest_tile(s) : nest_unrolled(s)); d++)
        if (d > k->shared.n || fit_loop(k, s, d)->axis < s->n_shared)
            n *= (double)loop_trips(fit_loop(k, s, d));
    return n;
}

/* Cycles that copies take. An element is loaded, stored and counted, by single instructions. */
static double copies_of(const plan *p, const kernel *k, const stage *s)
{
    enum { INSTRUCTIONS = 4 };
    double elements = 0;
    for (int i = 0; i < s->n_staging; i++) {
        const staging *g = &s->staging[i];
        slice y;
        if (!staging_copies(g) || g->load >= s->n_load)
            continue;
        slice_find(p, k, s, g, &y);
        double times = (double)y.size;
        for (int d = 1; d <= g->loop + 1 + (g->shared ? 0 : k->shared.n); d++)
            times *= (double)loop_trips(fit_loop(k, s, d));
        elements += times;
    }
    return elements * INSTRUCTIONS / p->on->cost.fma_per_cycle;
}

/* Bytes that every worker brings for itself, less those that one would: of operands along which the spread loops do not
 * move. */
static double brought_again(const plan *p, const kernel *k)
{
    const int core = nest_parallel(k), chunks = nest_chunks(k);
    const nest *outer = nest_outer(k);
    uint32_t axes = 0;
    double bytes = 0;
    for (int l = 0; l <= core; l++)
        axes |= l == core || l < chunks ? 1u << outer->loop[l].axis : 0;
    for (int i = 0; axes && i < k->n_stage; i++)
        for (int j = 0; j < k->stage[i].n_load; j++) {
            const node *n = k->stage[i].load[j]->from;
            if (!(stage_axes(&k->stage[i], j) & axes) && kernel_stage(k, n) < 0)
                bytes += (double)type_count(&n->type) * stored_width(p, n);
        }
    return bytes * (p->threads - 1);
}

/* Cycles of all workers together that a stage multiplies and loads from the first cache */
static void add_stage(const plan *p, const kernel *k, const stage *s, double part[N_PART])
{
    const costs *c = &p->on->cost;
    const tile_facts f = tile_facts_of(p, k, s);
    if (stage_points(s, 0, s->n_axis) < 1)
        return;
    const double points = stage_points(s, 0, s->n_axis) * (1 + fit_waste(p, k, s)),
                 lanes = f.lanes > 0 ? (double)f.lanes : 1, steps = points / lanes,
                 vector = (double)f.lanes_of * 4 / p->on->level[0].bytes_per_cycle; /* cycles of a load */
    const double each = stage_flops(s) / stage_points(s, 0, s->n_axis) / 2;
    double multiply = steps * fmax(each, 1) / c->fma_per_cycle, loads = s->n_load + 1;
    if (f.sums) {
        const double under_way = (double)f.sums / (c->fma_latency * c->fma_per_cycle);
        multiply /= fmin(under_way, 1), loads = f.loads + spilled(p, s, &f);
        part[MULTIPLY] += tiles_of(k, s) * 2 * c->fma_latency;
        part[LOADS] += 2 * stage_points(s, 0, s->n_result) / lanes * vector;
    }
    part[MULTIPLY] += multiply, part[LOADS] += steps * loads * vector + copies_of(p, k, s);
}

/* Bytes that come from each level: what leaves the cache before it. What no cache keeps until the next run comes from
 * memory once: weights, where a run reads more of them than the last cache holds. */
static void add_levels(const plan *p, const kernel *k, double part[N_PART])
{
    const int last = p->on->n_level - 1;
    double weights = 0;
    for (int i = 0; i < k->n_stage; i++)
        for (int j = 0; j < k->stage[i].n_load; j++) {
            const node *n = k->stage[i].load[j]->from;
            if (n->leaf && n->leaf->kind != LEAF_INPUT)
                weights += (double)type_bytes(&n->type);
        }
    for (int l = 1; l <= last; l++) {
        const double again = fit_traffic(p, k, l - 1), far = p->streamed ? weights : again - k->bytes,
                     bytes = l < last - 1 ? again
                             : l < last   ? again - (p->streamed ? weights : 0)
                                          : far;
        const double apart = p->on->level[l - 1].shared ? 0 : brought_again(p, k);
        part[FIRST_LEVEL + l] += (fmax(bytes, 0) + apart) / p->on->level[l].bytes_per_cycle;
    }
}

/* Workers that have trips of the loop that is spread, on average until the last one is done */
static double busy(const plan *p, const kernel *k)
{
    const nest *outer = nest_outer(k);
    const int core = nest_parallel(k), chunks = nest_chunks(k);
    double trips = 1;
    for (int l = 0; l < outer->n && l <= core; l++)
        if (l == core || l < chunks)
            trips *= (double)loop_trips(&outer->loop[l]);
    return trips / ceil(trips / p->threads);
}

prediction kernel_predict(const plan *p, const kernel *k)
{
    const costs *c = &p->on->cost;
    double part[N_PART] = {0}, move = 0, most = 0;
    prediction out = {.bound = "multiplying"};
    const double start = p->on->team ? c->start_seconds : 0;
    if (!stage_nested(k->stage) || k->scan || k->moves)
        return (prediction){kernel_seconds(k, p->on) + start, "start"};
    for (int i = 0; i < k->n_stage; i++)
        add_stage(p, k, &k->stage[i], part);
    add_levels(p, k, part);
    for (int i = 0; i < N_PART; i++) {
        move += i == MULTIPLY ? 0 : part[i];
        if (part[i] > most)
            most = part[i], out.bound = i == MULTIPLY ? "multiplying"
                                        : i == LOADS  ? "loads"
                                                      : p->on->level[i - FIRST_LEVEL].name;
    }
    const double cycles = fmax(part[MULTIPLY], move) + c->exposed * fmin(part[MULTIPLY], move);
    out.seconds = cycles / busy(p, k) / c->cycles_per_second;
    if (out.seconds < start)
        out.bound = "start";
    out.seconds += start;
    return out;
}
