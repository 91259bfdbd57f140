/* cards.c - shards on devices whose memory plans share: gradients of shards, their sums, the norm, the update and the
 * weights stay there, and cards send pieces to each other. What is added to what is as on the host, so bits are, too;
 * batches go to the cards, losses and the norm come back. */
#include "train/shards.h"

#include "graph/base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- whether ---- */
void cards_choose(step *s)
{
    shards *z = s->shards;
    bool ok = z->ranks->count == 1 && s->asked->accumulate == 1 && s->n_weight == s->n_parameter;
    ts_error why = {0};
    for (int i = 0; ok && i < z->n_device; i++)
        ok = ts_plan_shares(z->device[i].plan, z->n_device, &why);
    if (why.code && why.code != TS_UNSUPPORTED)
        snprintf(z->why, sizeof z->why, "cards exchange gradients by way of the host: %.*s",
                 (int)strcspn(why.text, "\n"), why.text);
    z->on_cards = ok;
    z->n_holder = ok ? z->n_device : 1;
}

/* ---- plans ---- */
static ts_tensor vector(ts_graph *g, const char *form, int i, int64_t n) /* [n] */
{
    char name[40];
    snprintf(name, sizeof name, form, i);
    return ts_input(g, name, TS_F32, 1, &n);
}

static int levels_of(const shards *z) /* of sums that are held */
{
    return shards_levels(z->own / z->n_device) - 1;
}

/* What came of 2^(t + 1) shards is held at level t: held[1] + (held[0] + sum), the older one first; of all shards it is
 * the sum itself. Plans write what they may read: `new` is always true. */
static bool make_climb(shards *z, int t, net *n, const ts_options *o, ts_error *e)
{
    const ts_tensor sum = vector(n->g, "train.flat.sum", 0, z->flat); /* [flat], as all here */
    ts_tensor all = sum, to = t == levels_of(z) ? sum : vector(n->g, "train.flat.held%d", t, z->flat);
    for (int i = 0; i < t; i++)
        all = ts_call2(n->g, "add", vector(n->g, "train.flat.held%d", i, z->flat), all);
    if (to != sum)
        all = ts_call3(n->g, "where", ts_input(n->g, "train.flat.new", TS_BOOL, 0, NULL), all, to);
    const ts_state state = {to, all};
    const devices_want want = {.g = n->g, .n_state = 1, .state = &state};
    return ts_graph_ok(n->g, e) && devices_plans(z, CLIMB + t, z->n_device, o, &want, e);
}

/* Of a round the half that is kept gets what came. */
static bool make_add(shards *z, int round, net *n, const ts_options *o, ts_error *e)
{
    ts_state state[MOST_GROUP];
    int k = 0;
    for (int i = 0; i < z->n_group; i++) {
        const int64_t half = z->group[i].n >> (round + 1);
        char keep[40], came[40];
        snprintf(keep, sizeof keep, "train.keep%d.%%d", round);
        snprintf(came, sizeof came, "train.came%d.%%d", round);
        const ts_tensor to = half ? vector(n->g, keep, i, half) : NULL; /* [half] */
        if (half)
            state[k++] = (ts_state){to, ts_call2(n->g, "add", to, vector(n->g, came, i, half))};
    }
    const devices_want want = {.g = n->g, .n_state = k, .state = state};
    return ts_graph_ok(n->g, e) && devices_plans(z, ADD + round, z->n_device, o, &want, e);
}

/* 16 parts of x [n, size]: pairs, then pairs of pairs. Of f32 their squares. */
static ts_tensor add_parts(ts_graph *g, ts_tensor x, int64_t n, int64_t size)
{
    enum { PARTS = 16 };
    ts_tensor part[PARTS]; /* [n, size] */
    for (int i = 0; i < PARTS; i++) {
        char call[120];
        snprintf(call, sizeof call, "slice starts=[0,%lld] sizes=[%lld,%lld]", (long long)(i * size), (long long)n,
                 (long long)size);
        part[i] = ts_call1(g, call, x);
        if (ts_type(x) == TS_F32) {
            part[i] = ts_call1(g, "cast to=f64", part[i]);
            part[i] = ts_call2(g, "multiply", part[i], part[i]);
        }
    }
    for (int gap = 1; gap < PARTS; gap *= 2)
        for (int i = 0; i < PARTS; i += 2 * gap)
            part[i] = ts_call2(g, "add", part[i], part[i + gap]);
    return part[0];
}

static ts_tensor squares(ts_graph *g, ts_tensor piece, int64_t n, int64_t slice) /* [n * slice] -> [n] */
{
    char call[120];
    snprintf(call, sizeof call, "reshape shape=[%lld,%lld]", (long long)n, (long long)slice);
    ts_tensor x = add_parts(g, ts_call1(g, call, piece), n, slice / 16); /* [n, slice / 16] */
    for (int64_t size = slice / 16, most; size > 1;) {
        most = size, size = (most + 15) / 16;
        snprintf(call, sizeof call, "pad pads=[0,0,0,%lld]", (long long)(16 * size - most));
        x = add_parts(g, 16 * size > most ? ts_call1(g, call, x) : x, n, size); /* [n, size] */
    }
    snprintf(call, sizeof call, "reshape shape=[%lld]", (long long)n);
    return ts_call1(g, call, x);
}

static bool make_norm(shards *z, net *n, const ts_options *o, ts_error *e)
{
    const int64_t own = z->own / z->n_device;
    ts_tensor sum = NULL; /* [own] */
    for (int i = 0; i < z->n_group - 1; i++) {
        const shard_group *g = &z->group[i];
        const ts_tensor one = g->n ? squares(n->g, vector(n->g, "train.piece%d", i, own * g->slice), own, g->slice)
                                   : NULL;
        sum = sum && one ? ts_call2(n->g, "add", sum, one) : one ? one : sum;
    }
    return ts_graph_ok(n->g, e) && devices_plans(z, NORM, z->n_device, o, &(devices_want){.g = n->g, .loss = sum}, e);
}

bool cards_make(step *s, net *n, const ts_options *o, ts_error *e)
{
    shards *z = s->shards;
    bool ok = true;
    for (int t = 0; ok && z->on_cards && levels_of(z) && t <= levels_of(z); t++)
        ok = make_climb(z, t, n, o, e);
    for (int round = 0; ok && z->on_cards && 1 << round < z->n_device; round++)
        ok = make_add(z, round, n, o, e);
    return ok && (!z->on_cards || make_norm(z, n, o, e));
}

/* ---- where vectors lie ---- */
typedef struct span { /* of one of the vectors */
    int64_t vector, from, n;
} span;

/* Of a group what a card has after so many rounds: of two partners the lower one keeps the lower half. */
static span kept_of(const shard_group *g, int i, int rounds)
{
    span s = {0, g->from, g->n};
    for (int round = 0; round < rounds; round++) {
        s.n /= 2;
        s.from += i >> round & 1 ? s.n : 0;
    }
    return s;
}

static span in(int64_t vector, span s)
{
    s.vector = vector;
    return s;
}

static int rounds_of(const shards *z)
{
    return __builtin_ctz((unsigned)z->n_device); /* a power of 2 */
}

typedef struct place { /* a card's plan */
    const shards *z;
    int i;
    ts_plan *plan;
} place;

/* An input that is not there is not needed. One that has no value yet lies in the host's vector until it is shared. */
static bool share(place on, const char *name, span at, ts_error *e)
{
    const int port = ts_plan_find(on.plan, name);
    const ts_array a = {.dtype = TS_F32, .rank = 1, .dim = {at.n}, .data = shards_at(&on.z->weights, at.from)};
    return port < 0 || (ts_plan_lend(on.plan, port, &a, e) &&
                        ts_plan_share(on.plan, port, on.z->memory[on.i], at.vector * on.z->flat + at.from, e));
}

static bool share_numbered(place on, const char *form, int k, span at, ts_error *e)
{
    char name[40];
    snprintf(name, sizeof name, form, k);
    return share(on, name, at, e);
}

static bool place_vectors(const shards *z, int i, ts_error *e)
{
    const span all = {0, 0, z->flat};
    bool yes = true, ok = true;
    for (int t = 0; ok && t <= levels_of(z) && z->plan[CLIMB + t][i]; t++) {
        const place on = {z, i, z->plan[CLIMB + t][i]};
        ok = share(on, "train.flat.sum", in(AT_SUMS, all), e) &&
             step_give(on.plan, "train.flat.new", &(ts_array){.dtype = TS_BOOL, .data = &yes}, e);
        for (int k = 0; ok && k < levels_of(z); k++)
            ok = share_numbered(on, "train.flat.held%d", k, in(AT_HELD + k, all), e);
    }
    return ok;
}

static bool place_pieces(const shards *z, int i, ts_error *e)
{
    const place update = {z, i, z->plan[UPDATE][i]}, norm = {z, i, z->plan[NORM][i]};
    bool ok = true;
    for (int k = 0; ok && k < z->n_group; k++) {
        const shard_group *g = &z->group[k];
        const span own = kept_of(g, i, rounds_of(z));
        char keep[40], came[40];
        ok = share_numbered(norm, "train.piece%d", k, in(AT_SUMS, own), e) &&
             (!g->parameter || (share(update, ts_name(g->parameter), in(AT_WEIGHTS, own), e) &&
                                share(update, ts_name(g->grad), in(AT_SUMS, own), e)));
        for (int round = 0; ok && round < rounds_of(z); round++) {
            snprintf(keep, sizeof keep, "train.keep%d.%d", round, k);
            snprintf(came, sizeof came, "train.came%d.%d", round, k);
            const place add = {z, i, z->plan[ADD + round][i]};
            ok = share(add, keep, in(AT_SUMS, kept_of(g, i, round + 1)), e) &&
                 share(add, came, in(AT_HELD, kept_of(g, i, round + 1)), e);
        }
    }
    return ok;
}

static bool place_weights(const step *s, int i, ts_error *e)
{
    const shards *z = s->shards;
    ts_plan *p = z->device[i].plan;
    bool ok = true;
    for (int k = 0; ok && k < s->n_weight; k++) {
        const int weight = ts_plan_find(p, ts_name(s->parameter[k].input)), sum = ts_plan_find(p, ts_name(s->sum[k]));
        ok = (weight < 0 || ts_plan_share(p, weight, z->memory[i], AT_WEIGHTS * z->flat + z->at[k], e)) &&
             (sum < 0 || ts_plan_share(p, sum, z->memory[i], AT_SUMS * z->flat + z->at[k], e));
    }
    return ok;
}

static bool join(shards *z, ts_error *e)
{
    ts_shared_id id;
    return z->n_device == 1 ||
           (ts_shared_meeting(z->memory[0], &id, e) && ts_shared_join(z->n_device, z->memory, 0, z->n_device, &id, e));
}

bool cards_begin(step *s, ts_error *e)
{
    shards *z = s->shards;
    const int64_t held = levels_of(z) || z->n_device == 1 ? levels_of(z) : 1;
    bool ok = true;
    for (int i = 0; ok && z->on_cards && i < z->n_device; i++) {
        if (!z->memory[i] && !(z->memory[i] = ts_shared_make(z->device[i].plan, (AT_HELD + held) * z->flat, e)))
            return false;
        ok = place_weights(s, i, e) && place_vectors(z, i, e) && place_pieces(z, i, e) &&
             ts_shared_write(z->memory[i], 0, shards_at(&z->weights, 0), z->flat, e);
    }
    return ok && (!z->on_cards || join(z, e));
}

/* ---- a step ---- */
/* Behind every second shard, whose plan has added the one before */
bool cards_climb(const shards *z, const shard_device *d, ts_error *e)
{
    if (d->done % 2)
        return true;
    const int t = d->last ? levels_of(z) : __builtin_ctzll((unsigned long long)d->done / 2);
    ts_plan *climb = z->plan[CLIMB + t][d - z->device];
    return !climb || ts_plan_run(climb, e);
}

typedef struct transfers {
    int n;
    ts_transfer t[2 * MOST_GROUP * MOST_DEVICE * MOST_DEVICE];
} transfers;

static void add_transfer(transfers *all, const shards *z, int i, int with, bool sends, span at)
{
    if (at.n)
        all->t[all->n++] = (ts_transfer){z->memory[i], with, sends, at.vector * z->flat + at.from, at.n};
}

bool cards_sum(const shards *z, ts_error *e)
{
    ENDED_BY(heap_free) transfers *all = heap_array(1, sizeof *all);
    bool ok = true;
    for (int round = 0; ok && round < rounds_of(z); round++) {
        all->n = 0;
        for (int i = 0; i < z->n_device; i++)
            for (int k = 0; k < z->n_group; k++) {
                const int with = i ^ 1 << round;
                add_transfer(all, z, i, with, true, in(AT_SUMS, kept_of(&z->group[k], with, round + 1)));
                add_transfer(all, z, i, with, false, in(AT_HELD, kept_of(&z->group[k], i, round + 1)));
            }
        ok = ts_shared_exchange(all->n, all->t, e);
        for (int i = 0; ok && i < z->n_device; i++)
            ok = ts_plan_run(z->plan[ADD + round][i], e);
    }
    return ok;
}

bool cards_spread(const shards *z, ts_error *e)
{
    ENDED_BY(heap_free) transfers *all = heap_array(1, sizeof *all);
    const int rounds = rounds_of(z);
    for (int i = 0; i < z->n_device; i++)
        for (int with = 0; with < z->n_device; with++)
            for (int k = 0; k < z->n_group && with != i; k++) {
                add_transfer(all, z, i, with, true, in(AT_WEIGHTS, kept_of(&z->group[k], i, rounds)));
                add_transfer(all, z, i, with, false, in(AT_WEIGHTS, kept_of(&z->group[k], with, rounds)));
            }
    return ts_shared_exchange(all->n, all->t, e);
}

bool cards_norm(const shards *z, ts_error *e)
{
    for (int i = 0; i < z->n_device; i++) {
        ts_array a = {0};
        if (!ts_plan_run(z->plan[NORM][i], e) || !ts_plan_get(z->plan[NORM][i], 0, &a, e))
            return false;
        memcpy(z->sliced + shards_first(z, i), a.data, (size_t)ts_array_count(&a) * sizeof *z->sliced);
        ts_array_free(&a);
    }
    return true;
}

bool cards_bring(const shards *z, ts_error *e)
{
    bool ok = true;
    for (int i = 0; ok && i < z->n_device; i++)
        for (int k = 0; ok && k < z->n_group; k++) {
            const span own = kept_of(&z->group[k], i, rounds_of(z));
            ok = !own.n || ts_shared_read(z->memory[i], AT_SUMS * z->flat + own.from,
                                          shards_at(&z->device[0].level[0], own.from), own.n, e);
        }
    return ok;
}
