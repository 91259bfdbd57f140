/* shards_run.c - a step in shards: sums up the tree, the norm, the update of own pieces, and weights for all again. */
#include "train/shards.h"

#include "graph/base/base.h"
#include "graph/base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- sums ---- */
bool shards_bring(const step *s, ts_plan *p, ts_error *e)
{
    bool ok = true;
    for (int i = 0; ok && i < s->n_weight; i++)
        ok = ts_plan_view(p, ts_plan_find(p, ts_name(s->sum[i])), &(ts_array){0}, e);
    return ok;
}

void shards_add(const ts_array *left, const ts_array *right, int64_t from, int64_t to)
{
    float *sum = shards_at(left, 0);
    const float *more = shards_at(right, 0);
    for (int64_t i = from; i < to; i++)
        sum[i] += more[i];
}

/* The tree over a device's shards: like a counter, sums of as many shards meet. The plan has added the odd ones, and
 * what is left after the last shard is added as it is sent. */
void shards_climb(const shards *z, shard_device *d, int64_t done)
{
    d->held += done % 2 == 0;
    for (int64_t pairs = done / 2; done % 2 == 0 && pairs % 2 == 0; pairs /= 2)
        d->held--, shards_add(&d->level[d->held - 1], &d->level[d->held], 0, z->flat);
}

static bool exchange_cards(const shards *z, bool (*by)(const shards *z, ts_error *e), step_result *r, ts_error *e)
{
    const double start = seconds_now();
    const bool ok = by(z, e);
    r->exchanged += seconds_now() - start, r->waited += seconds_now() - start;
    return ok;
}

/* Beside the other devices, which are waited for when all have been told what to do. */
static bool run_beside(step *s, shard_device *d, step_result *r, ts_error *e)
{
    shards *z = s->shards;
    d->step = s, d->timed = (step_result){.n_kernel = r->n_kernel};
    if (d == z->device)
        d->timed.kernels = r->kernels;
    if (!devices_start(d, e) || !d->last || d != &z->device[z->n_device - 1])
        return d->runs;
    if (!devices_wait(z, e))
        return false;
    if (z->on_cards)
        return exchange_cards(z, cards_sum, r, e);
    devices_sum(z), z->device[0].held = 0;
    return exchange_run(s, r, e);
}

static bool run_alone(step *s, shard_device *d, step_result *r, ts_error *e)
{
    if (s->shards->on_cards)
        return step_run_plan(d->plan, r, e) && step_scalar(d->plan, 0, d->loss, e) && cards_climb(s->shards, d, e);
    if (d->last)
        return exchange_run(s, r, e) && step_scalar(d->plan, 0, d->loss, e);
    if (!exchange_pass(s, r, e) || !step_scalar(d->plan, 0, d->loss, e) ||
        (d->done % 2 == 0 && !shards_bring(s, d->plan, e)))
        return false;
    shards_climb(s->shards, d, d->done);
    return true;
}

bool step_shard(step *s, const net *n, const ts_array *batch, int64_t number, step_result *r, ts_error *e)
{
    shards *z = s->shards;
    const int64_t shard = number % z->n, each = z->own / z->n_device, k = shard % each;
    shard_device *d = &z->device[shard % z->own / each];
    bool adds = k % 2 == 1;
    z->batch = number / z->n;
    ranks_lives(z->ranks);
    if (!devices_ready(d, e))
        return false;
    d->held = k ? d->held : 0, d->done = k + 1, d->last = k == each - 1, d->loss = &z->loss[shard];
    if (!z->on_cards && d->lent != d->held && !shards_lend(s, d->plan, s->sum, &d->level[d->held], e))
        return false;
    d->lent = z->on_cards ? d->lent : d->held;
    if (!step_random(s, d->plan, number, e) ||
        !step_give(d->plan, "train.adds", &(ts_array){.dtype = TS_BOOL, .data = &adds}, e) ||
        !net_set(n, d->plan, batch, e))
        return false;
    return z->n_device > 1 ? run_beside(s, d, r, e) : run_alone(s, d, r, e);
}

/* v[0 .. n) with a stride, n a power of 2: ((0 + 1) + (2 + 3)) + ... */
static double tree_sum(const double *v, int64_t n, int64_t stride)
{
    return n == 1 ? *v : tree_sum(v, n / 2, stride) + tree_sum(v + n / 2 * stride, n / 2, stride);
}

/* ---- norms ---- */
/* 16 parts are added up in pairs of pairs, then what came of them, and so on; a device does so, too. */
enum { PARTS = 16 };
static double in_pairs(const double p[PARTS])
{
    return (((p[0] + p[1]) + (p[2] + p[3])) + ((p[4] + p[5]) + (p[6] + p[7]))) +
           (((p[8] + p[9]) + (p[10] + p[11])) + ((p[12] + p[13]) + (p[14] + p[15])));
}

static double squares(const float *v, int64_t n, double *room)
{
    double part[PARTS];
    int64_t m = n / PARTS;
    for (int64_t k = 0; k < m; k++) {
        for (int i = 0; i < PARTS; i++)
            part[i] = (double)v[i * m + k] * (double)v[i * m + k];
        room[k] = in_pairs(part);
    }
    for (int64_t most; m > 1;) {
        most = m, m = (most + PARTS - 1) / PARTS;
        for (int64_t k = 0; k < m; k++) {
            for (int i = 0; i < PARTS; i++)
                part[i] = i * m + k < most ? room[i * m + k] : 0;
            room[k] = in_pairs(part);
        }
    }
    return n ? room[0] : 0;
}

const ts_array *shards_sums(const shards *z)
{
    return z->mean.data ? &z->mean : &z->device[0].level[0];
}

void shards_arrived(const step *s, int group)
{
    const shards *z = s->shards;
    const shard_group *g = &z->group[group];
    const bool first = z->batch % s->asked->accumulate == 0;
    for (int64_t k = z->first; k < z->first + z->own; k++) {
        const int64_t from = g->from + k * g->slice;
        const float *last = shards_at(&z->device[0].level[0], from);
        float *sum = shards_at(shards_sums(z), from);
        for (int64_t i = 0; sum != last && i < g->slice; i++)
            sum[i] = first ? last[i] : sum[i] + last[i];
        z->measured[group * z->n + k] = squares(sum, g->slice, z->room);
    }
}

/* Of all ranks: groups in one order, whichever came first; statistics are no gradients */
static void add_measured(const shards *z)
{
    for (int64_t k = z->first; k < z->first + z->own; k++) {
        z->sliced[k] = 0;
        for (int i = 0; i < z->n_group - 1; i++)
            z->sliced[k] += z->measured[i * z->n + k];
    }
    ranks_spread(z->ranks, z->sliced, (size_t)z->n * sizeof *z->sliced);
}

/* Of every parameter the part in each own slice: [slice][parameter]. What lies behind it, to a whole line, is zero. */
static void measure(const step *s, const float *flat)
{
    const shards *z = s->shards;
    for (int64_t k = z->first; k < z->first + z->own; k++)
        for (int i = 0; i < s->n_parameter; i++) {
            const shard_group *g = &z->group[z->in[i]];
            const int64_t from = g->from + k * g->slice, to = from + g->slice, begin = z->at[i],
                          end = begin + parameter_count(s->parameter[i].input), a = begin > from ? begin : from,
                          b = end < to ? end : to;
            z->square[k * s->n_parameter + i] = a < b ? squares(flat + a, (b - a + PARTS - 1) / PARTS * PARTS, z->room)
                                                      : 0;
        }
    ranks_spread(z->ranks, z->square, (size_t)(z->n * s->n_parameter) * sizeof *z->square);
}

/* Each parameter's where they are asked for, or something is no number */
static bool tell_norms(const step *s, const float *sum, double scale, step_result *r, ts_error *e)
{
    const shards *z = s->shards;
    if (z->on_cards ? !cards_norm(z, e) : (add_measured(z), false))
        return false;
    r->norm = sqrt(tree_sum(z->sliced, z->n, 1)) * scale;
    if (!r->norms || (isfinite(r->loss) && isfinite(r->norm) && !s->asked->grad_norms))
        return true;
    if (z->on_cards && !cards_bring(z, e))
        return false;
    measure(s, sum);
    for (int i = 0; i < s->n_parameter; i++)
        r->norms[i] = sqrt(tree_sum(z->square + i, z->n, s->n_parameter)) * scale;
    return true;
}

/* Losses of all shards and whether any rank is to end, in the order of pieces. */
static void share_losses(const step *s, step_result *r)
{
    const shards *z = s->shards;
    const int64_t width = z->own + 1, n = width * z->ranks->count, rank = z->ranks->rank;
    ENDED_BY(heap_free) double *all = heap_array((size_t)n, sizeof *all);
    double *own = all + ranks_piece(z->ranks, (int)rank) * width;
    memcpy(own, z->loss + rank * z->own, (size_t)z->own * sizeof *own);
    own[z->own] = r->stop;
    ranks_spread(z->ranks, all, (size_t)n * sizeof *all);
    for (int i = 0; i < z->ranks->count; i++) {
        const double *of = all + ranks_piece(z->ranks, i) * width;
        memcpy(z->loss + i * z->own, of, (size_t)z->own * sizeof *of);
        r->stop = r->stop || of[z->own] != 0;
    }
}

/* ---- the update ---- */
/* Own pieces of statistics, which become the mean. */
static void set_statistics(const shards *z, const float *sum, float scale)
{
    const shard_group *last = &z->group[z->n_group - 1];
    const int64_t at = last->from + z->first * last->slice;
    for (int64_t k = at; k < at + z->own * last->slice; k++)
        *shards_at(&z->weights, k) = sum[k] * scale;
}

static bool update_cards(step *s, step_result *r, ts_error *e)
{
    const shards *z = s->shards;
    for (int i = 0; i < z->n_holder; i++)
        if (!ts_plan_run(z->plan[UPDATE][i], e))
            return false;
    return exchange_cards(z, cards_spread, r, e);
}

static bool update(step *s, const float *sum, double scale, step_result *r, ts_error *e)
{
    shards *z = s->shards;
    const double clip = s->asked->clip > 0 ? fmin(s->asked->clip / (r->norm + 1e-6), 1) : 1;
    float factor = (float)(scale * clip);
    shards_drop_average(z);
    for (int i = 0; i < z->n_holder; i++)
        if (!step_give(z->plan[UPDATE][i], "train.factor", &(ts_array){.dtype = TS_F32, .data = &factor}, e))
            return false;
    if (z->on_cards)
        return update_cards(s, r, e);
    set_statistics(z, sum, (float)scale);
    return shards_lend_sums(s, e) && exchange_update(s, r, e) && shards_weights(s, e);
}

bool step_join(step *s, int64_t at, step_result *r, ts_error *e)
{
    shards *z = s->shards;
    const int64_t parts = s->asked->accumulate, part = at % parts;
    const double scale = 1 / ((double)z->n * (double)parts);
    ranks_lives(z->ranks);
    share_losses(s, r);
    r->loss = (part ? r->loss : 0) + tree_sum(z->loss, z->n, 1) * scale;
    const float *sum = shards_at(shards_sums(z), 0);
    if (!tell_norms(s, sum, scale, r, e))
        return false;
    for (int i = 0; i < z->n_holder; i++)
        if (!step_number(s, z->plan[UPDATE][i], at, e))
            return false;
    if (!isfinite(r->loss) || !isfinite(r->norm) || part < parts - 1)
        return true;
    return update(s, sum, scale, r, e) && step_scalar(z->plan[UPDATE][0], 0, &r->lr, e);
}
