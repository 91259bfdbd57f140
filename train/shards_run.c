/* shards_run.c - a step in shards: sums up the tree, the norm, the update of own pieces, and weights for all again. */
#include "train/shards.h"

#include "graph/base/base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- sums ---- */
static bool take_sums(step *s, float *flat, ts_error *e)
{
    for (int i = 0; i < s->n_weight; i++) {
        ts_array a = {0};
        if (!ts_plan_view(s->plan, ts_plan_find(s->plan, ts_name(s->sum[i])), &a, e))
            return false;
        memcpy(flat + s->shards->at[i], a.data, (size_t)parameter_count(s->parameter[i].input) * sizeof *flat);
    }
    return true;
}

/* The tree over this rank's shards: like a counter, sums of as many shards meet. The plan has added the odd ones. */
static bool climb(step *s, int64_t done, ts_error *e)
{
    shards *z = s->shards;
    if (done % 2 && done < z->own)
        return true;
    if (!take_sums(s, z->level[z->held++], e))
        return false;
    for (int64_t pairs = done / 2; pairs > 0 && pairs % 2 == 0; pairs /= 2) {
        float *left = z->level[z->held - 2];
        const float *right = z->level[--z->held];
        for (int64_t i = 0; i < z->flat; i++)
            left[i] += right[i];
    }
    return true;
}

bool step_shard(step *s, const net *n, const ts_array *batch, int64_t number, step_result *r, ts_error *e)
{
    shards *z = s->shards;
    const int64_t shard = number % z->n, k = shard % z->own;
    bool adds = k % 2 == 1;
    z->held = k ? z->held : 0;
    return step_random(s, number, e) &&
           step_give(s->plan, "train.adds", &(ts_array){.dtype = TS_BOOL, .data = &adds}, e) &&
           net_set(n, s->plan, batch, e) && step_run_plan(s, r, e) && step_scalar(s->plan, 0, &z->loss[shard], e) &&
           climb(s, k + 1, e);
}

/* v[0 .. n) with a stride, n a power of 2: ((0 + 1) + (2 + 3)) + ... */
static double tree_sum(const double *v, int64_t n, int64_t stride)
{
    return n == 1 ? *v : tree_sum(v, n / 2, stride) + tree_sum(v + n / 2 * stride, n / 2, stride);
}

/* ---- norms ---- */
static double squares(const float *v, int64_t n)
{
    double lane[8] = {0};
    for (int64_t i = 0; i < n; i++)
        lane[i % 8] += (double)v[i] * (double)v[i];
    return tree_sum(lane, 8, 1);
}

/* Of every parameter the part in each own slice: [slice][parameter]. */
static void measure(const step *s, const float *flat)
{
    const shards *z = s->shards;
    for (int64_t k = z->first; k < z->first + z->own; k++)
        for (int i = 0; i < s->n_parameter; i++) {
            const shard_group *g = &z->group[z->in[i]];
            const int64_t from = g->from + k * g->slice, to = from + g->slice, begin = z->at[i],
                          end = begin + parameter_count(s->parameter[i].input), a = begin > from ? begin : from,
                          b = end < to ? end : to;
            z->square[k * s->n_parameter + i] = a < b ? squares(flat + a, b - a) : 0;
        }
    ranks_spread(z->ranks, z->square, (size_t)(z->n * s->n_parameter) * sizeof *z->square);
}

static void tell_norms(const step *s, double scale, step_result *r)
{
    const shards *z = s->shards;
    double sum = 0;
    for (int i = 0; i < s->n_parameter; i++) {
        const double one = tree_sum(z->square + i, z->n, s->n_parameter);
        if (r->norms)
            r->norms[i] = sqrt(one) * scale;
        sum += one;
    }
    r->norm = sqrt(sum) * scale;
}

/* Losses of all shards and whether any rank is to end, in the order of pieces. */
static bool share_losses(const step *s, step_result *r, ts_error *e)
{
    const shards *z = s->shards;
    const int64_t width = z->own + 1, n = width * z->ranks->count, rank = z->ranks->rank;
    double *all = calloc((size_t)n, sizeof *all);
    if (!all)
        return err_memory(e, (size_t)n * sizeof *all, "the losses of %lld shards", (long long)z->n);
    double *own = all + ranks_piece(z->ranks, (int)rank) * width;
    memcpy(own, z->loss + rank * z->own, (size_t)z->own * sizeof *own);
    own[z->own] = r->stop;
    ranks_spread(z->ranks, all, (size_t)n * sizeof *all);
    for (int i = 0; i < z->ranks->count; i++) {
        const double *of = all + ranks_piece(z->ranks, i) * width;
        memcpy(z->loss + i * z->own, of, (size_t)z->own * sizeof *of);
        r->stop = r->stop || of[z->own] != 0;
    }
    free(all);
    return true;
}

/* ---- the update ---- */
static bool update_group(step *s, shard_group *g, const float *sum, ts_error *e)
{
    ts_array a = {.dtype = TS_F32, .rank = 1, .dim = {s->shards->own * g->slice}};
    a.data = (void *)(sum + g->from + s->shards->first * g->slice);
    return !g->parameter || step_give(s->shards->update, ts_name(g->grad), &a, e);
}

/* Own pieces of what parameters have become; of statistics the mean. */
static bool take_pieces(step *s, const float *sum, float scale, float *flat, ts_error *e)
{
    const shards *z = s->shards;
    for (int i = 0; i < N_GROUP; i++) {
        const shard_group *g = &z->group[i];
        const int64_t n = z->own * g->slice, at = g->from + z->first * g->slice;
        ts_array a = {0};
        for (int64_t k = 0; i == FOLLOWS && k < n; k++)
            flat[at + k] = sum[at + k] * scale;
        if (!g->parameter)
            continue;
        if (!ts_plan_view(z->update, ts_plan_find(z->update, ts_name(g->parameter)), &a, e))
            return false;
        memcpy(flat + at, a.data, (size_t)n * sizeof *flat);
    }
    return true;
}

static void spread(step *s, float *flat)
{
    const shards *z = s->shards;
    for (int i = 0; i < N_GROUP; i++)
        if (z->group[i].n)
            ranks_spread(z->ranks, flat + z->group[i].from, (size_t)z->group[i].n * sizeof *flat);
}

static void drop_whole(shards *z)
{
    for (int i = 0; i < FOLLOWS; i++)
        for (int k = 0; k < z->group[i].n_state; k++) {
            free(z->group[i].state[k].whole);
            z->group[i].state[k].whole = NULL;
        }
}

static bool update(step *s, const float *sum, double scale, const step_result *r, ts_error *e)
{
    shards *z = s->shards;
    const double clip = s->asked->clip > 0 ? fmin(s->asked->clip / (r->norm + 1e-6), 1) : 1;
    float factor = (float)(scale * clip);
    drop_whole(z); /* of the last checkpoint */
    bool good = step_give(z->update, "train.factor", &(ts_array){.dtype = TS_F32, .data = &factor}, e);
    for (int i = 0; good && i < FOLLOWS; i++)
        good = update_group(s, &z->group[i], sum, e);
    if (!good || !ts_plan_run(z->update, e) || !take_pieces(s, sum, (float)scale, z->level[0], e))
        return false;
    spread(s, z->level[0]);
    return shards_weights(s, z->level[0], e);
}

/* Sums over batches, of own pieces: level 0 holds those of the last one. */
static float *add_batch(const step *s, bool first)
{
    const shards *z = s->shards;
    for (int i = 0; z->mean && i < N_GROUP; i++) {
        const shard_group *g = &z->group[i];
        const int64_t from = g->from + z->first * g->slice, to = from + z->own * g->slice;
        for (int64_t k = from; k < to; k++)
            z->mean[k] = first ? z->level[0][k] : z->mean[k] + z->level[0][k];
    }
    return z->mean ? z->mean : z->level[0];
}

bool step_join(step *s, int64_t at, step_result *r, ts_error *e)
{
    shards *z = s->shards;
    const int64_t parts = s->asked->accumulate, part = at % parts;
    const double scale = 1 / ((double)z->n * (double)parts);
    if (!share_losses(s, r, e))
        return false;
    r->loss = (part ? r->loss : 0) + tree_sum(z->loss, z->n, 1) * scale;
    for (int i = 0; i < N_GROUP; i++)
        if (z->group[i].n && !ranks_sum(z->ranks, z->level[0] + z->group[i].from, z->group[i].n, e))
            return false;
    const float *sum = add_batch(s, part == 0);
    measure(s, sum);
    tell_norms(s, scale, r);
    if (!step_number(s, z->update, at, e))
        return false;
    if (!isfinite(r->loss) || !isfinite(r->norm) || part < parts - 1)
        return true;
    return update(s, sum, scale, r, e) && step_scalar(z->update, 0, &r->lr, e);
}
