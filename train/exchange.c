/* exchange.c - sums over all ranks, bucket by bucket: a thread sends one while the backward pass makes the next. All
 * ranks have one plan, so they send in one order. */
#include "train/shards.h"

#include "graph/base/base.h"
#include "graph/base/clock.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

typedef struct exchange {
    const shards *shards;
    pthread_mutex_t lock;
    pthread_cond_t more;
    int ready, n_stop; /* buckets that the plan has written; those that it writes before it ends */
    int order[MOST_BUCKET + 1], stop[MOST_BUCKET + 1]; /* buckets, and the kernel before which each is there */
    bool stops;                                        /* the plan failed */
    ts_error e;                                        /* the thread's own, and the seconds that sums took it */
    double seconds;
} exchange;

/* The kernel before which all sums of a bucket are there. */
static bool find_stops(const step *s, int stop[], ts_error *e)
{
    for (int i = 0; i < s->n_weight; i++) {
        int first, written, *own = &stop[s->shards->in[i] / N_RULE];
        if (!ts_plan_touched(s->plan, ts_plan_find(s->plan, ts_name(s->sum[i])), &first, &written, e))
            return false;
        *own = written > *own ? written : *own;
    }
    return true;
}

exchange *exchange_make(const step *s, ts_error *e)
{
    exchange *x = calloc(1, sizeof *x);
    const int n = s->shards->n_bucket;
    int stop[MOST_BUCKET + 1] = {0};
    if (!x)
        return err_memory(e, sizeof *x, "an exchange of gradients"), NULL;
    x->shards = s->shards;
    MUST(!pthread_mutex_init(&x->lock, NULL) && !pthread_cond_init(&x->more, NULL));
    if (!find_stops(s, stop, e)) {
        exchange_free(x);
        return NULL;
    }
    for (int i = 0; i < n; i++) {
        int at = i;
        for (; at > 0 && x->stop[at - 1] > stop[i]; at--)
            x->stop[at] = x->stop[at - 1], x->order[at] = x->order[at - 1];
        x->stop[at] = stop[i], x->order[at] = i;
    }
    while (x->n_stop < n && x->stop[x->n_stop] < INT_MAX)
        x->n_stop++;
    return x;
}

void exchange_free(exchange *x)
{
    if (!x)
        return;
    pthread_mutex_destroy(&x->lock), pthread_cond_destroy(&x->more);
    free(x);
}

static int bucket_end(const shards *z, int bucket) /* of its groups, which begin at N_RULE * bucket */
{
    return N_RULE * (bucket + 1) < z->n_group ? N_RULE * (bucket + 1) : z->n_group;
}

static bool sum_bucket(exchange *x, int bucket)
{
    const shards *z = x->shards;
    for (int i = N_RULE * bucket; i < bucket_end(z, bucket); i++) {
        const shard_group *g = &z->group[i];
        for (int level = z->device[0].held; level > 0; level--)
            shards_add(z->device, level, g->from, g->from + g->n);
        const double start = seconds_now();
        if (g->n && !ranks_sum(z->ranks, shards_at(&z->device[0].level[0], g->from), g->n, &x->e))
            return false;
        x->seconds += seconds_now() - start;
    }
    return true;
}

static void *sum_all(void *of)
{
    exchange *x = of;
    bool good = true;
    for (int i = 0; good && i < x->shards->n_bucket; i++) {
        pthread_mutex_lock(&x->lock);
        while (x->ready <= i && !x->stops)
            pthread_cond_wait(&x->more, &x->lock);
        good = !x->stops;
        pthread_mutex_unlock(&x->lock);
        good = good && sum_bucket(x, x->order[i]);
    }
    return NULL;
}

static void tell(exchange *x, int ready, bool good)
{
    pthread_mutex_lock(&x->lock);
    x->ready = ready, x->stops = !good;
    pthread_cond_signal(&x->more);
    pthread_mutex_unlock(&x->lock);
}

static void written(void *user, int i)
{
    const exchange *x = user;
    ranks_lives(x->shards->ranks);
    tell(user, i + 1, true);
}

bool exchange_run(step *s, step_result *r, ts_error *e)
{
    exchange *x = s->shards->exchange;
    pthread_t thread;
    x->ready = 0, x->stops = false, x->seconds = 0;
    const bool computed = x->shards->n_device > 1; /* by all of them, as a whole */
    const bool beside = !computed && x->shards->ranks->count > 1 && pthread_create(&thread, NULL, sum_all, x) == 0;
    const bool good = computed ||
                      ((r->kernels ? step_run_plan(s->plan, r, e)
                                   : ts_plan_run_stops(s->plan, beside ? x->n_stop : 0, x->stop, written, x, e)) &&
                       shards_bring(s, s->plan, e));
    const double end = seconds_now();
    tell(x, x->shards->n_bucket, good);
    if (beside)
        pthread_join(thread, NULL);
    else
        sum_all(x);
    r->exchanged += x->seconds, r->waited += seconds_now() - end;
    return good && (!x->e.code || err_set(e, x->e.code, "%s", x->e.text));
}

void exchange_foretell(const step *s, const ranks *r, const exchange_model *m, step_result *out)
{
    const shards *z = s->shards;
    const exchange *x = z->exchange;
    const int held = shards_levels(m->own) - 1;
    double computed = 0, end = 0, adding = 0; /* of kernels so far; of the thread that sends */
    int k = 0;
    for (int i = 0; i < z->n_bucket; i++) {
        for (; r->count > 1 && k < m->n_kernel && k < x->stop[i]; k++)
            computed += m->kernel[k] * m->crowd;
        end = end > computed ? end : computed;
        for (int g = N_RULE * x->order[i]; g < bucket_end(z, x->order[i]); g++) {
            const double size = (double)z->group[g].n * sizeof(float), sent = 1 - 1.0 / r->count,
                         sums = ranks_seconds(r, (size_t)size, &m->net) + 3 * sent * size * m->byte;
            adding += 3 * held * size * m->byte;
            end += sums + 3 * held * size * m->byte, out->exchanged += z->group[g].n ? sums : 0;
        }
    }
    for (; k < m->n_kernel; k++)
        computed += m->kernel[k] * m->crowd;
    out->waited += r->count > 1 ? (end > computed ? end - computed : 0) : adding;
}
