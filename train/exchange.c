/* exchange.c - sums over all ranks, bucket by bucket: a thread sends one while the backward pass makes the next.
 * Weights go round again in buckets, too, in the order in which the next pass needs them: while other pieces are
 * updated, and while that pass computes, which waits for those that it comes to. Norms are measured bucket by bucket,
 * while others are on their way. All ranks have one plan, so they send in one order. */
#include "train/shards.h"

#include "graph/base/base.h"
#include "graph/base/clock.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

enum { MOST_MOMENT = 2 * (MOST_BUCKET + 1) };
typedef struct moments { /* buckets, and the kernels of a plan before which something is to be done for them */
    int n, bucket[MOST_MOMENT], kernel[MOST_MOMENT];
} moments;
typedef struct exchange {
    const shards *shards;
    ranks aside; /* the same, by the channel of the threads here */
    pthread_mutex_t lock;
    pthread_cond_t more;
    moments sums, needs, updates; /* when sums are written, weights are needed, weights are updated */
    moments pass;                 /* the first two by their numbers there, from 1; needs below 0, and first */
    /* Buckets: with written sums; with sums over all ranks; with updated pieces; with weights that have come */
    int ready, summed, renewed, there;
    bool sends, stops;                 /* sums go out as they are written; a plan failed */
    int sent[MOST_BUCKET + 1], n_sent; /* of buckets with any, in their order: before which kernel sums went out */
    pthread_t round;
    bool goes_round;        /* weights are on their way, by that thread */
    ts_error e;             /* the threads' own */
    double seconds, waited; /* since they were last told of: with other ranks; of them, while nothing is computed */
} exchange;

static void add_moment(moments *m, int bucket, int kernel)
{
    int at = m->n++;
    for (; at > 0 && m->kernel[at - 1] > kernel; at--)
        m->kernel[at] = m->kernel[at - 1], m->bucket[at] = m->bucket[at - 1];
    m->kernel[at] = kernel, m->bucket[at] = bucket;
}

static bool find_moments(const step *s, exchange *x, ts_error *e)
{
    const shards *z = s->shards;
    int sum[MOST_BUCKET + 1] = {0}, need[MOST_BUCKET + 1], update[MOST_BUCKET + 1] = {0};
    for (int i = 0; i < z->n_bucket; i++)
        need[i] = INT_MAX;
    for (int i = 0; i < s->n_weight; i++) {
        int first, written, from, never;
        const int own = z->in[i] / N_RULE;
        if (!ts_plan_touched(s->plan, ts_plan_find(s->plan, ts_name(s->sum[i])), &first, &written, e) ||
            !ts_plan_touched(s->plan, ts_plan_find(s->plan, ts_name(s->parameter[i].input)), &from, &never, e))
            return false;
        sum[own] = written > sum[own] ? written : sum[own], need[own] = from < need[own] ? from : need[own];
    }
    for (int i = 0; i < z->n_group; i++) {
        int first, written;
        if (!z->group[i].parameter)
            continue;
        const int port = ts_plan_find(z->plan[UPDATE][0], ts_name(z->group[i].parameter)), own = i / N_RULE;
        if (!ts_plan_touched(z->plan[UPDATE][0], port, &first, &written, e))
            return false;
        update[own] = written > update[own] ? written : update[own];
    }
    for (int i = 0; i < z->n_bucket; i++)
        add_moment(&x->sums, i, sum[i] ? sum[i] : INT_MAX), add_moment(&x->needs, i, need[i]),
            add_moment(&x->updates, i, update[i]);
    return true;
}

/* Those that come before a plan ends. */
static int count_within(const moments *m)
{
    int n = 0;
    while (n < m->n && m->kernel[n] < INT_MAX)
        n++;
    return n;
}

static void merge_stops(exchange *x)
{
    for (int i = 0; i < x->needs.n; i++)
        add_moment(&x->pass, -1 - i, x->needs.kernel[i]);
    for (int i = 0; i < count_within(&x->sums); i++)
        add_moment(&x->pass, 1 + i, x->sums.kernel[i]);
}

exchange *exchange_make(const step *s, ts_error *e)
{
    exchange *x = heap_array(1, sizeof *x);
    x->shards = s->shards, x->aside = *s->shards->ranks, x->aside.channel = 1;
    MUST(!pthread_mutex_init(&x->lock, NULL) && !pthread_cond_init(&x->more, NULL));
    if (!find_moments(s, x, e)) {
        exchange_free(x);
        return NULL;
    }
    merge_stops(x);
    x->there = x->needs.n;
    return x;
}

/* ---- what the threads tell each other ---- */
static bool await(exchange *x, const int *counts, int least)
{
    pthread_mutex_lock(&x->lock);
    while (*counts < least && !x->stops)
        pthread_cond_wait(&x->more, &x->lock);
    const bool ok = !x->stops;
    pthread_mutex_unlock(&x->lock);
    return ok;
}

static void tell(exchange *x, int *counts, int now, bool ok)
{
    pthread_mutex_lock(&x->lock);
    *counts = now, x->stops = x->stops || !ok;
    pthread_cond_broadcast(&x->more);
    pthread_mutex_unlock(&x->lock);
}

static int bucket_end(const shards *z, int bucket) /* of its groups, which begin at N_RULE * bucket */
{
    return N_RULE * (bucket + 1) < z->n_group ? N_RULE * (bucket + 1) : z->n_group;
}

static int64_t bucket_elements(const shards *z, int bucket)
{
    int64_t n = 0;
    for (int i = N_RULE * bucket; i < bucket_end(z, bucket); i++)
        n += z->group[i].n;
    return n;
}

/* ---- weights, while what follows is computed ---- */
static void spread_bucket(exchange *x, int bucket)
{
    const shards *z = x->shards;
    const double start = seconds_now();
    for (int i = N_RULE * bucket; i < bucket_end(z, bucket); i++)
        ranks_spread(&x->aside, shards_at(&z->weights, z->group[i].from), (size_t)z->group[i].n * sizeof(float));
    x->seconds += seconds_now() - start;
}

static int place_in(const moments *m, int bucket)
{
    int at = 0;
    while (m->bucket[at] != bucket)
        at++;
    return at;
}

static void *spread_all(void *of)
{
    exchange *x = of;
    for (int i = 0; i < x->needs.n; i++) {
        if (!await(x, &x->renewed, place_in(&x->updates, x->needs.bucket[i]) + 1))
            return NULL;
        spread_bucket(x, x->needs.bucket[i]);
        tell(x, &x->there, i + 1, true);
    }
    return NULL;
}

static bool await_idle(exchange *x, const int *counts, int least)
{
    const double start = seconds_now();
    const bool ok = await(x, counts, least);
    x->waited += seconds_now() - start;
    return ok;
}

static void settle(exchange *x)
{
    await_idle(x, &x->there, x->needs.n);
    if (x->goes_round)
        pthread_join(x->round, NULL);
    x->goes_round = false;
}

void exchange_free(exchange *x)
{
    if (!x)
        return;
    settle(x);
    pthread_mutex_destroy(&x->lock), pthread_cond_destroy(&x->more);
    free(x);
}

void step_settle(const step *s)
{
    exchange *x = s->shards ? s->shards->exchange : NULL;
    if (x)
        settle(x), x->seconds = x->waited = 0;
}

static void renewed(void *user, int i)
{
    exchange *x = user;
    ranks_lives(x->shards->ranks);
    tell(x, &x->renewed, i + 1, true);
}

static void tell_seconds(exchange *x, step_result *r)
{
    r->exchanged += x->seconds, r->waited += x->waited;
    x->seconds = x->waited = 0;
}

bool exchange_update(step *s, step_result *r, ts_error *e)
{
    const shards *z = s->shards;
    exchange *x = z->exchange;
    x->renewed = x->there = 0;
    x->goes_round = z->ranks->count > 1 && pthread_create(&x->round, NULL, spread_all, x) == 0;
    bool ok = ts_plan_run_stops(z->plan[UPDATE][0], count_within(&x->updates), x->updates.kernel, renewed, x, e);
    for (int i = 0; ok && i < z->n_group; i++)
        ok = !z->group[i].parameter ||
             ts_plan_view(z->plan[UPDATE][0], ts_plan_find(z->plan[UPDATE][0], ts_name(z->group[i].parameter)),
                          &(ts_array){0}, e);
    tell(x, &x->renewed, x->updates.n, ok);
    if (!x->goes_round)
        spread_all(x);
    if (z->n_device > 1 || !count_within(&x->sums)) /* what is computed next does not stop */
        settle(x), tell_seconds(x, r);
    return ok;
}

/* ---- sums, while others are computed ---- */
static bool sum_bucket(exchange *x, int bucket)
{
    const shards *z = x->shards;
    for (int i = N_RULE * bucket; i < bucket_end(z, bucket); i++) {
        const shard_group *g = &z->group[i];
        for (int level = z->device[0].held; level > 0; level--)
            shards_add(&z->device->level[level - 1], &z->device->level[level], g->from, g->from + g->n);
        const double start = seconds_now();
        if (g->n && !ranks_sum(&x->aside, shards_at(&z->device[0].level[0], g->from), g->n, &x->e))
            return false;
        x->seconds += seconds_now() - start;
    }
    return true;
}

static void *sum_all(void *of)
{
    exchange *x = of;
    bool ok = await(x, &x->there, x->needs.n);
    for (int i = 0; ok && i < x->sums.n; i++) {
        ok = await(x, &x->ready, i + 1) && sum_bucket(x, x->sums.bucket[i]);
        tell(x, &x->summed, i + 1, ok);
    }
    return NULL;
}

/* To the thread that sends: buckets up to `ready`, before that kernel of the pass. */
static void send(exchange *x, int ready, int kernel, bool ok)
{
    for (int i = x->ready; i < ready; i++)
        if (bucket_elements(x->shards, x->sums.bucket[i]))
            x->sent[x->n_sent++] = kernel;
    tell(x, &x->ready, ready, ok);
}

static void reached(void *user, int i)
{
    exchange *x = user;
    ranks_lives(x->shards->ranks);
    if (x->pass.bucket[i] < 0)
        await_idle(x, &x->there, -x->pass.bucket[i]);
    else if (x->sends)
        send(x, x->pass.bucket[i], x->pass.kernel[i], true);
}

bool exchange_pass(step *s, const step_result *r, ts_error *e)
{
    exchange *x = s->shards->exchange;
    if (!r->kernels)
        return ts_plan_run_stops(s->plan, x->sends || x->goes_round ? x->pass.n : 0, x->pass.kernel, reached, x, e);
    settle(x);
    return step_run_plan(s->plan, r, e);
}

bool exchange_run(step *s, step_result *r, ts_error *e)
{
    exchange *x = s->shards->exchange;
    pthread_t thread;
    x->ready = x->summed = x->n_sent = 0;
    const bool computed = x->shards->n_device > 1; /* by all of them, as a whole */
    x->sends = !computed && x->shards->ranks->count > 1 && pthread_create(&thread, NULL, sum_all, x) == 0;
    const bool ok = computed || (exchange_pass(s, r, e) && shards_bring(s, s->plan, e));
    const double end = seconds_now();
    send(x, x->sums.n, INT_MAX, ok);
    if (!x->sends)
        sum_all(x), x->waited += seconds_now() - end;
    for (int i = 0; i < x->sums.n && await_idle(x, &x->summed, i + 1); i++)
        for (int g = N_RULE * x->sums.bucket[i]; g < bucket_end(x->shards, x->sums.bucket[i]); g++)
            shards_arrived(s, g);
    if (x->sends)
        pthread_join(thread, NULL);
    x->sends = false;
    settle(x), tell_seconds(x, r);
    r->sent = x->sent, r->n_sent = x->n_sent;
    return ok && (!x->e.code || err_set(e, x->e.code, "%s", x->e.text));
}

/* ---- as it would be ---- */
static double seconds_of(const double *kernel, int from, int to, const exchange_model *m)
{
    double sum = 0;
    for (int k = from; k < to; k++)
        sum += kernel[k];
    return sum * m->crowd;
}

void exchange_foretell_round(const step *s, const ranks *r, exchange_model *m, step_result *out)
{
    const shards *z = s->shards;
    const exchange *x = z->exchange;
    const double shared = (double)z->ranks->count / r->count,
                 updated = shared * seconds_of(m->update, 0, m->n_update, m);
    double end = 0, late = 0; /* of the thread that sends; of the pass, which waits */
    for (int i = 0; i < x->needs.n; i++) {
        const int b = x->needs.bucket[i], at = x->updates.kernel[place_in(&x->updates, b)];
        double takes = 0;
        for (int g = N_RULE * b; g < bucket_end(z, b); g++)
            takes += z->group[g].n ? ranks_seconds(r, (size_t)z->group[g].n * sizeof(float), &m->net) : 0;
        end = fmax(end, shared * seconds_of(m->update, 0, at < m->n_update ? at : m->n_update, m)) + takes;
        const int need = x->needs.kernel[i] < m->n_kernel ? x->needs.kernel[i] : m->n_kernel;
        late = fmax(late, end - updated - seconds_of(m->kernel, 0, need, m)), out->exchanged += takes;
    }
    m->busy = end - updated - late - (double)(m->own - 1) * seconds_of(m->kernel, 0, m->n_kernel, m);
    out->waited += late;
}

void exchange_foretell(const step *s, const ranks *r, const exchange_model *m, step_result *out)
{
    const shards *z = s->shards;
    const exchange *x = z->exchange;
    const int held = shards_levels(m->own) - 1;
    /* Of the thread that sends; of it what one rank alone does, too; of the other one, which measures what has come */
    double end = m->busy, adding = 0, done = seconds_of(m->kernel, 0, m->n_kernel, m);
    for (int i = 0; i < x->sums.n; i++) {
        const int b = x->sums.bucket[i];
        double measures = 0;
        end = fmax(end, seconds_of(m->kernel, 0, x->sums.kernel[i] < m->n_kernel ? x->sums.kernel[i] : m->n_kernel, m));
        for (int g = N_RULE * b; g < bucket_end(z, b); g++) {
            const double size = (double)z->group[g].n * sizeof(float), sent = 1 - 1.0 / r->count,
                         sums = ranks_seconds(r, (size_t)size, &m->net) + 3 * sent * size * m->byte;
            adding += 3 * held * size * m->byte;
            end += sums + 3 * held * size * m->byte, out->exchanged += z->group[g].n ? sums : 0;
            measures += size / r->count * m->byte;
        }
        out->waited += r->count > 1 ? fmax(end - done, 0) : 0;
        done = fmax(end, done) + measures;
    }
    out->waited += r->count > 1 ? 0 : adding;
}
