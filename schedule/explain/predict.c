/* predict.c - the time of a kernel from its loops, by the execution-cache-memory model of Treibig and Hager: cycles of
 * computing, which wait for the sums of the step before, and of what is loaded, from the first two caches one after
 * the other, and from behind them, which is fetched meanwhile. The longest hides most of the others; how much of them
 * is seen is a rate of the machine. What is computed, loaded and stored is counted in the statements that are
 * compiled; every other figure is counted from the nest or is a rate, but how many
 * instructions begin in a cycle, and what a branch takes: those are assumed. */
#include "schedule/explain/explain.h"
#include "schedule/nest/nest.h"

#include <math.h>

enum { MULTIPLY, LOADS, FIRST_LEVEL }; /* parts of the time; behind these one for each level that bytes come from */
enum { N_PART = FIRST_LEVEL + MAX_LEVEL };
enum { BRANCH = 2 }; /* cycles from one taken branch to the next */

/* Cycles of all workers together: of operations on vectors, as many of which begin in one as there are multiply-adds,
 * and as many of other kinds beside them; on some machines twice as many multiply-adds of half a vector. What stands
 * around tiles, copies among it, is done before or after. And of loads from the first cache. A store is two of these:
 * half as many begin in a cycle. A tile of sums begins with what clears or loads them, and ends when the last
 * multiply-add is done. */
static void add_operations(const plan *p, const op_counts *n, double part[N_PART])
{
    const costs *c = &p->on->cost;
    const double load = (double)p->on->lanes[TS_F32] * 4 / p->on->level[0].bytes_per_cycle;
    const double sums = (n->multiply_adds - p->on->halves * n->halves / 2 + n->dots + n->waits) / c->fma_per_cycle;
    const double loads = n->loads + n->broadcasts + n->scalar_loads, stores = n->stores + n->scalar_stores,
                 all = n->multiply_adds + n->dots + n->others + n->scalars + loads +
                       2 * (stores + n->fetches + n->trips);
    part[MULTIPLY] = fmax(sums + n->others / c->fma_per_cycle, fmax(n->trips * BRANCH, all / (2 * c->fma_per_cycle))) +
                     n->tiles * 2 * c->fma_latency + (n->around + 2 * n->tiles) * BRANCH;
    part[LOADS] = load * (loads + 2 * stores + n->spills);
}

/* The nearest level that still holds what a kernel made when so many bytes have gone by since */
static int level_behind(const plan *p, double bytes)
{
    const target *on = p->on;
    int l = 0;
    while (l < on->n_level - 1 && (double)target_bytes(on, l) * (on->level[l].shared ? 1 : p->threads) < bytes)
        l++;
    return l;
}

/* Where kernel number `at` finds a value: what another one made, behind all that was read and written since;
 * a weight or an input in the last cache, or in memory where a run reads more weights than that holds. */
static int lies_in(const plan *p, int at, const node *n)
{
    double bytes = 0;
    for (int i = at; i >= 0; i--) {
        if (i < at && kernel_stage(&p->kernel[i], n) >= 0)
            return level_behind(p, bytes);
        bytes += p->kernel[i].bytes;
    }
    return target_last(p->on) + (p->streamed && n->leaf && n->leaf->kind != LEAF_INPUT);
}

/* Bytes that come from each level: what leaves the cache before it again, and what lies there or behind. */
static void add_levels(const plan *p, const kernel *k, const footprint *b, double part[N_PART])
{
    const int last = p->on->n_level - 1;
    int at = 0;
    while (at < p->n_kernel - 1 && kernel_stage(&p->kernel[at], k->stage[k->main].node) < 0)
        at++;
    for (int l = 1; l <= last; l++) {
        double bytes = fmax(b->traffic[l - 1] - k->bytes, 0) * (l < last);
        for (int i = 0; i < k->n_stage; i++) {
            const stage *s = &k->stage[i];
            for (int j = 0; j < s->n_load; j++)
                if (kernel_stage(k, s->load[j]->from) < 0 && lies_in(p, at, s->load[j]->from) >= l)
                    bytes += stage_read(s, s->load[j]) * stored_width(p, s->load[j]->from);
            if (!s->scratch && level_behind(p, k->bytes) >= l)
                bytes += stage_stored(s) * stored_width(p, s->node);
        }
        const double apart = p->on->level[l - 1].shared ? 0 : b->apart;
        part[FIRST_LEVEL + l] += (bytes + apart) / p->on->level[l].bytes_per_cycle;
    }
}

/* Workers that have trips of the loops that are spread, on average until the last one is done */
static double busy(const plan *p, const kernel *k)
{
    const double trips = (double)nest_parts(k);
    return trips / ceil(trips / p->threads);
}

prediction kernel_predict(const plan *p, const kernel *k, const op_counts *n, const footprint *bytes)
{
    const costs *c = &p->on->cost;
    double part[N_PART] = {0}, together[3] = {0}, all = 0, most = 0;
    prediction out = {.bound = "multiplying"};
    const double start = p->on->team ? c->start_seconds : 0;
    op_counts own;
    ENDED_BY(footprint_free) footprint of = {0};
    if (!n && stage_nested(k->stage) && !k->scan && !k->moves && p->on->count && p->on->count(p, k, &own, &of))
        n = &own, bytes = &of;
    if (!n)
        return (prediction){kernel_seconds(k, p->on) + start, "start"};
    add_operations(p, n, part);
    add_levels(p, k, bytes, part);
    for (int i = 0; i < N_PART; i++) {
        together[i == MULTIPLY ? 0 : i > FIRST_LEVEL + 1 ? 2 : 1] += part[i], all += part[i];
        if (part[i] > most)
            most = part[i], out.bound = i == MULTIPLY ? "multiplying"
                                        : i == LOADS  ? "loads"
                                                      : p->on->level[i - FIRST_LEVEL].name;
    }
    const double longest = fmax(together[0], fmax(together[1], together[2])),
                 cycles = longest + c->shown * (all - longest);
    out.seconds = cycles / busy(p, k) / c->cycles_per_second;
    if (out.seconds < start)
        out.bound = "start";
    out.seconds += start;
    return out;
}
