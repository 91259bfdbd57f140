#include "tests/backends/random_chain.h"
#include "tests/backends/random_loops.h"

#include <stdio.h>
#include <string.h>

enum { MOST_UNROLLED = 32, MOST_LANES = 192 };

typedef struct dealt { /* of one axis, what its loops are, from inside out */
    chain c;
    int inside, lane; /* loops in registers: 0 to 2 of the last ones; which one lies in lanes, or -1 */
    int blocks;       /* of the first ones, dealt to groups */
} dealt;

typedef struct dealing {
    dice *d;
    const stage *s;
    dealt axis[MAX_AXIS];
    int vector; /* the axis whose last loop is a vector, or -1 */
    int64_t lanes, unrolled;
    text *t;
} dealing;

static int64_t trips(const dealt *a, int l)
{
    const int64_t left = l > 0 && a->c.step[l - 1] < a->c.left ? a->c.step[l - 1] : a->c.left;
    return (left + a->c.step[l] - 1) / a->c.step[l];
}

/* The last loop of an axis is serial, unrolled or a vector; it, or the one around, may lie in lanes. */
static void deal_axis(dealing *g, int a)
{
    dealt *x = &g->axis[a];
    const int last = x->c.n - 1;
    x->lane = -1, x->inside = 0;
    if (last < 0)
        return;
    const bool fits = trips(x, last) * g->unrolled <= MOST_UNROLLED;
    if (a == g->vector || (fits && roll(g->d, 3) == 0))
        x->inside = 1, g->unrolled *= trips(x, last);
    const int lane = last - x->inside;
    if (lane < 0 || roll(g->d, 3) == 0 || trips(x, lane) * g->lanes > MOST_LANES)
        return;
    x->lane = lane, x->inside++, g->lanes *= trips(x, lane);
}

static void put_copy(dealing *g, const char *prefix)
{
    static const char *const spaces[] = {"", "", "@shared", "@none"};
    if (!g->s->n_load || roll(g->d, 6))
        return;
    text_add(g->t, "+%s%c%s", prefix, 'a' + (int)roll(g->d, g->s->n_load), spaces[roll(g->d, COUNT(spaces))]);
}

static bool put_next(dealing *g, int a, const char *how) /* the axis's next loop */
{
    dealt *x = &g->axis[a];
    chain_put(g->s, a, x->c.step[x->c.used++], how, g->t);
    return true;
}

static int count_left(const dealing *g, bool inside)
{
    int n = 0;
    for (int a = 0; a < g->s->n_axis; a++)
        n += g->axis[a].c.n - (inside ? 0 : g->axis[a].inside) - g->axis[a].c.used;
    return n;
}

static void put_outside(dealing *g, bool blocks)
{
    const int parts = roll(g->d, 3) ? -1 : g->s->n_result; /* of a sum: its first axis */
    for (int a = 0; blocks && a < g->s->n_axis; a++)
        if (g->axis[a].c.n > g->axis[a].inside && (a == parts || (a < g->s->n_result && roll(g->d, 2)))) {
            put_next(g, a, "@block");
            put_copy(g, "");
        }
    while (count_left(g, false) > 0) {
        const int a = (int)roll(g->d, g->s->n_axis);
        const dealt *x = &g->axis[a];
        if (x->c.used >= x->c.n - x->inside)
            continue;
        put_next(g, a, "");
        put_copy(g, "");
    }
}

static void put_inside(dealing *g)
{
    const int last = g->vector >= 0 && g->axis[g->vector].inside > 0;
    while (count_left(g, true) > last) {
        const int a = (int)roll(g->d, g->s->n_axis);
        const dealt *x = &g->axis[a];
        if (x->c.used >= x->c.n - (a == g->vector && last))
            continue;
        put_next(g, a, x->c.used == x->lane ? "@lane" : "@unroll");
    }
    if (last)
        put_next(g, g->vector, "@vector");
}

static void put_stage(dice *d, const stage *s, const int64_t *extent, bool blocks, text *t)
{
    dealing g = {.d = d, .s = s, .vector = -1, .lanes = 1, .unrolled = 1, .t = t};
    for (int a = 0; a < s->n_axis; a++) {
        chain_split(d, &g.axis[a].c, extent[a]);
        if (extent[a] == 1 && a < s->n_shared)
            g.axis[a].c.n = 0;
    }
    const int vector = s->n_axis && roll(d, 2) ? (int)roll(d, s->n_axis) : -1;
    if (vector >= 0 && g.axis[vector].c.n && chain_trips(&g.axis[vector].c) <= 16)
        g.vector = vector;
    for (int a = 0; a < s->n_axis; a++)
        deal_axis(&g, a);
    put_outside(&g, blocks);
    put_inside(&g);
}

static void put_shared(dice *d, const kernel *k, int64_t *left, text *t)
{
    const stage *s = &k->stage[k->main];
    bool block = roll(d, 4) > 0;
    for (int a = 0; a < k->n_shared; a++) {
        chain c;
        chain_split(d, &c, left[a]);
        c.n -= c.n > 1 && roll(d, 2); /* the stages walk what is left */
        for (int i = 0; i < c.n; i++) {
            dealing own = {.d = d, .s = &k->stage[roll(d, k->n_stage)], .t = t};
            char prefix[40];
            chain_put(s, a, c.step[i], block ? "@block" : "", t);
            snprintf(prefix, sizeof prefix, "%s.", own.s->name);
            put_copy(&own, prefix);
            block = block && roll(d, 2);
        }
        left[a] = c.step[c.n - 1] < left[a] ? c.step[c.n - 1] : left[a];
    }
}

void random_group_loops(dice *d, const plan *p, const kernel *k, text *out)
{
    int64_t left[MAX_AXIS] = {0};
    (void)p;
    if (k->n_stage == 1)
        put_stage(d, k->stage, k->stage->extent, true, out);
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
            put_stage(d, &k->stage[i], own, false, out);
        }
    }
    chain_spoil(d, out);
}
