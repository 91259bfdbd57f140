/* devices.c - a rank's shards shared out over its devices: each has a plan of a shard's gradients, the weights of
 * all, sums of its own, and a thread while it computes. A device's shards are neighbours and a power of 2, so what it
 * sums up is a branch of the tree, and bits are those of one device of the kind. */
#include "train/shards.h"

#include "graph/base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- making ---- */
static char *name_at(const char *list, int i) /* the i-th, to be freed; NULL: there is none */
{
    for (; list && i > 0; i--)
        list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL;
    return list ? strndup(list, strcspn(list, ",")) : NULL;
}

/* Sums of 1, 2, 4, ... shards of one device that wait for as many more */
int shards_levels(int64_t each)
{
    int levels = 1;
    while (levels < MOST_LEVEL && (int64_t)2 << levels <= each)
        levels++;
    return levels;
}

static bool make_levels(shards *z, shard_device *d, ts_error *e)
{
    bool ok = true;
    for (int i = 0; ok && i < shards_levels(z->own / z->n_device); i++)
        ok = ts_array_make(&d->level[i], TS_F32, 1, &z->flat, e);
    return ok;
}

static ts_plan *plan_on(const shards *z, int i, const ts_options *o, const devices_want *want, ts_error *e)
{
    ENDED_BY(heap_free) char *name = z->n_device > 1 ? name_at(z->ranks->devices, i) : NULL;
    ENDED_BY(heap_free) char *limits = name ? sizes_make(o->mem_limit, z->ranks->devices, name) : NULL;
    ts_options own = *o;
    own.target = name ? name : o->target, own.mem_limit = name ? limits : o->mem_limit;
    return ts_plan_of(want->g, want->loss != NULL, &want->loss, want->n_state, want->state, &own, e);
}

static bool same_kind(const shards *z, int i) /* as the first */
{
    ENDED_BY(heap_free) char *name = name_at(z->ranks->devices, i), *first = name_at(z->ranks->devices, 0);
    const size_t n = name ? strcspn(name, ":") : 0;
    return !name || (strcspn(first, ":") == n && !memcmp(name, first, n));
}

bool devices_make(step *s, const ts_options *o, const devices_want *want, ts_error *e)
{
    shards *z = s->shards;
    for (int i = 0; i < z->n_device; i++) {
        shard_device *d = &z->device[i];
        if (!o->reproducible && !same_kind(z, i))
            snprintf(z->why, sizeof z->why,
                     "devices of several kinds: the bits are those of none of them; "
                     "--bits reproducible has the same on all");
        if (!(d->plan = plan_on(z, i, o, want, e)) || !make_levels(z, d, e))
            return false;
    }
    s->plan = z->device[0].plan;
    return true;
}

bool devices_plans(shards *z, int which, int n, const ts_options *o, const devices_want *want, ts_error *e)
{
    bool ok = true;
    for (int i = 0; ok && i < n; i++)
        ok = (z->plan[which][i] = plan_on(z, i, o, want, e)) != NULL;
    return ok;
}

bool devices_run(const shards *z, ts_error *e)
{
    bool ok = true;
    for (int i = 0; ok && i < z->n_device; i++)
        ok = ts_plan_runs(z->device[i].plan, e);
    return ok;
}

bool devices_build(const shards *z, ts_error *e)
{
    bool ok = true;
    for (int i = 0; ok && i < z->n_device; i++) {
        ok = ts_plan_build(z->device[i].plan, e);
        for (int k = 0; ok && k < N_PLAN; k++)
            ok = !z->plan[k][i] || ts_plan_build(z->plan[k][i], e);
    }
    return ok;
}

void devices_free(step *s)
{
    shards *z = s->shards;
    devices_wait(z, NULL);
    for (int i = 0; i < z->n_device; i++) {
        for (int k = 0; k < MOST_LEVEL; k++)
            ts_array_free(&z->device[i].level[k]);
        for (int k = 0; k < N_PLAN; k++)
            ts_plan_free(z->plan[k][i]);
        if (i > 0) /* the first one's is the step's */
            ts_plan_free(z->device[i].plan);
    }
    for (int i = 0; i < z->n_device; i++)
        ts_shared_free(z->memory[i]);
}

/* ---- running ---- */
static void *run_shard(void *of)
{
    shard_device *d = of;
    const shards *z = d->step->shards;
    d->ok = step_run_plan(d->plan, &d->timed, &d->e) && step_scalar(d->plan, 0, d->loss, &d->e) &&
            (z->on_cards                 ? cards_climb(z, d, &d->e)
             : !(d->done % 2) || d->last ? shards_bring(d->step, d->plan, &d->e)
                                         : true);
    if (z->on_cards)
        return NULL;
    if (d->ok && !d->last)
        shards_climb(z, d, d->done);
    for (int level = d->held; d->ok && d->last && level > 0; level--)
        shards_add(&d->level[level - 1], &d->level[level], 0, z->flat);
    return NULL;
}

bool devices_ready(shard_device *d, ts_error *e)
{
    if (!d->runs)
        return true;
    pthread_join(d->thread, NULL);
    d->runs = false;
    return d->ok || (e && err_set(e, d->e.code, "%s", d->e.text));
}

bool devices_start(shard_device *d, ts_error *e)
{
    d->e = (ts_error){0};
    if (pthread_create(&d->thread, NULL, run_shard, d) != 0)
        return err_memory(e, 0, "a thread for a device");
    return d->runs = true;
}

bool devices_wait(shards *z, ts_error *e)
{
    bool ok = true;
    for (int i = 0; i < z->n_device; i++)
        ok = devices_ready(&z->device[i], ok ? e : NULL) && ok;
    return ok;
}

/* ((0 + 1) + (2 + 3)) + ... into the first one's. */
void devices_sum(const shards *z)
{
    for (int gap = 1; gap < z->n_device; gap *= 2)
        for (int i = 0; i + gap < z->n_device; i += 2 * gap)
            shards_add(&z->device[i].level[0], &z->device[i + gap].level[0], 0, z->flat);
}
