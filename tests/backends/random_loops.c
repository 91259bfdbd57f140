#include "tests/backends/random_chain.h"
#include "tests/backends/random_loops.h"
#include "schedule/nest/nest.h"

#include <stdio.h>
#include <string.h>

enum { MOST_UNROLLED = 48 };

static void put_staging(dice *d, const stage *s, const char *prefix, text *t)
{
    static const char *const spaces[] = {"@l2*2", "@l1*3", "@none", "", ""};
    if (s->n_load == 0 || roll(d, 6))
        return;
    const int load = (int)roll(d, s->n_load + 1);
    if (load < s->n_load)
        text_add(t, "+%s%c%s", prefix, 'a' + load, spaces[roll(d, COUNT(spaces))]);
    else if (s->n_load <= 'y' - 'a') /* the result is only fetched */
        text_add(t, "+%sy%s", prefix, spaces[roll(d, 3)]);
}

/* Loops outside the register tile, in any order that keeps each axis's own. */
static void put_outer(dice *d, const stage *s, chain *c, bool cores, text *t)
{
    int left = 0;
    for (int a = 0; a < s->n_axis; a++)
        left += c[a].n - c[a].tile;
    while (left > 0) {
        const int a = (int)roll(d, s->n_axis);
        if (c[a].used >= c[a].n - c[a].tile)
            continue;
        const bool parts = s->folds >> a & 1 && c[a].used == 0 && roll(d, 2), /* of a sum: its first loop */
            core = cores && (parts || !(s->folds >> a & 1)) && roll(d, 3) == 0;
        chain_put(s, a, c[a].step[c[a].used++], core ? "@core" : "", t);
        put_staging(d, s, "", t);
        cores = cores && !core;
        left--;
    }
}

/* What the trips of a loop multiply the sums of the tile by, in registers */
static int64_t in_registers(const plan *p, const stage *s, int a, int64_t trips, bool vector)
{
    if (!stage_fold(s) || (!vector && s->folds >> a & 1))
        return 1;
    return vector ? (trips + nest_lanes(p, s) - 1) / nest_lanes(p, s) : trips;
}

static void put_stage(dice *d, const plan *p, const stage *s, const int64_t *extent, bool cores, text *t)
{
    chain c[MAX_AXIS];
    int64_t unrolled = 1, sums = 1;
    const int64_t most = roll(d, 20) ? p->on->n_register : INT64_MAX; /* now and then too many */
    int tile[MAX_AXIS], n = 0;
    int vector = s->n_axis && roll(d, 4) ? (int)roll(d, s->n_axis) : -1;
    for (int a = 0; a < s->n_axis; a++)
        chain_split(d, &c[a], extent[a]);
    if (vector >= 0 && (sums = in_registers(p, s, vector, chain_trips(&c[vector]), true)) > most)
        vector = -1, sums = 1;
    for (int a = 0; a < s->n_axis; a++) {
        if (extent[a] == 1 && a < s->n_shared)
            c[a].n = 0;
        if (!c[a].n && a == vector)
            vector = -1;
        const int64_t trips = chain_trips(&c[a]), more = in_registers(p, s, a, trips, false);
        c[a].tile = c[a].n &&
                    (a == vector || (roll(d, 3) == 0 && trips * unrolled <= MOST_UNROLLED && more * sums <= most));
        if (!c[a].tile || a == vector)
            continue;
        unrolled *= trips, sums *= more;
        const int k = (int)roll(d, ++n);
        tile[n - 1] = tile[k], tile[k] = a;
    }
    put_outer(d, s, c, cores, t);
    for (int i = 0; i < n; i++)
        chain_put(s, tile[i], 1, "@unroll", t);
    if (vector >= 0)
        chain_put(s, vector, 1, "@vector", t);
}

static void put_shared(dice *d, const kernel *k, int64_t *left, text *t)
{
    const stage *s = &k->stage[k->main];
    bool core = roll(d, 2);
    for (int a = 0; a < k->n_shared; a++) {
        chain c;
        chain_split(d, &c, left[a]);
        c.n -= c.n > 1 && roll(d, 2); /* the stages walk what is left */
        for (int i = 0; i < c.n; i++) {
            chain_put(s, a, c.step[i], core && roll(d, 2) ? (core = false, "@core") : "", t);
            char prefix[40];
            const stage *o = &k->stage[roll(d, k->n_stage)];
            snprintf(prefix, sizeof prefix, "%s.", o->name);
            put_staging(d, o, prefix, t);
        }
        left[a] = c.step[c.n - 1] < left[a] ? c.step[c.n - 1] : left[a];
    }
}

void random_loops(dice *d, const plan *p, const kernel *k, text *out)
{
    int64_t left[MAX_AXIS] = {0};
    if (k->n_stage == 1)
        put_stage(d, p, k->stage, k->stage->extent, true, out);
    else {
        memcpy(left, k->stage[k->main].extent, sizeof left);
        put_shared(d, k, left, out);
        for (int i = 0; i < k->n_stage; i++) {
            int64_t own[MAX_AXIS];
            if (roll(d, 3) == 0)
                continue; /* guessed */
            memcpy(own, k->stage[i].extent, sizeof own);
            memcpy(own, left, (size_t)k->n_shared * sizeof *own);
            text_add(out, " ; %s: ", k->stage[i].name);
            put_stage(d, p, &k->stage[i], own, false, out);
        }
    }
    chain_spoil(d, out);
}

void random_layout(dice *d, const stage *s, int load, text *out)
{
    const expr *const *sub = stage_places(s, load);
    const type *t = &stage_value(s, load)->type;
    chain c[MAX_RANK];
    int left = 0;
    for (int i = 0; i < t->rank; i++)
        chain_split(d, &c[i], t->dim[i]), left += c[i].n;
    while (left > 0) {
        const int i = (int)roll(d, t->rank);
        if (c[i].used == c[i].n)
            continue;
        const int64_t step = c[i].step[c[i].used++];
        left--;
        if (sub[i]->kind == X_AXIS) {
            chain_put(s, sub[i]->axis, step, "", out);
            continue;
        }
        text_add(out, "%sd%d", out->length ? " " : "", i);
        if (step > 1)
            text_add(out, "/%lld", (long long)step);
    }
}
