/* scan.c - states carried along axes: folds of several values, and scans. Parts share the longest other axis of the
 * result. Where the last axis of the result is not the one that is walked, a block of it has its states in arrays, so
 * that a step is a loop of vectors; else one row after the other is walked. */
#include "backends/codegen/emit.h"

#include <stdio.h>

enum { BLOCK = 64 };
typedef struct walking {
    emitter *m;
    const expr *x;
    writer w;
    int n, cut, lane; /* states; the axis that parts share, and the one in blocks: or -1 */
} walking;

static void open_lane(walking *k)
{
    if (k->lane >= 0)
        plain_loop(k->m, k->lane, "block", "end", true);
    else
        code_open(&k->m->out.code, (stmt){.kind = S_BLOCK});
}

static void declare(walking *k)
{
    emitter *m = k->m;
    for (int i = 0; i < k->n; i++)
        code_let(&m->out.code, value_type(m->d, k->x->arg[i]->dtype, m->p->reference),
                 arena_format(m->mem, k->lane >= 0 ? "s%d[%d]" : "s%d", i, BLOCK), NULL);
}

/* s0, s1, ... become parts first, first + 1, ... of the expression, all computed from what they were. */
static void set_states(walking *k, int first, bool together)
{
    emitter *m = k->m;
    for (int i = 0; i < k->n; i++) {
        const expr *x = k->x->arg[first + i];
        const char *state = arena_format(m->mem, "s%d%s", i, k->w.state), *next = arena_format(m->mem, "next%d", i);
        text value = {0};
        cstyle_temporaries(&k->w, &m->out.code, x);
        cstyle_whole(&k->w, &value, x);
        if (together)
            code_let(&m->out.code, arena_format(m->mem, "const %s", value_type(m->d, x->dtype, m->p->reference)), next,
                     value.s);
        else
            code_store(&m->out.code, state, value.s);
        text_free(&value);
    }
    for (int i = 0; together && i < k->n; i++)
        code_store(&m->out.code, arena_format(m->mem, "s%d%s", i, k->w.state), arena_format(m->mem, "next%d", i));
}

static void put_result(walking *k)
{
    plain_put(k->m, &k->w, store_offset(k->m, k->m->here.axis), x_result(k->x), false);
}

static int scan_axes(walking *k) /* opens the loops that are walked; their number */
{
    const stage *s = k->m->s;
    int n = 0;
    for (int a = 0; a < s->n_axis; a++) {
        char end[24];
        if (k->x->folds ? !(k->x->folds >> a & 1) : a != k->x->axis)
            continue;
        snprintf(end, sizeof end, "%lld", (long long)s->extent[a]);
        plain_loop(k->m, a, "0", end, false), n++;
    }
    return n;
}

static void write_rows(walking *k)
{
    emitter *m = k->m;
    declare(k);
    open_lane(k);
    set_states(k, 0, false);
    plain_end(m, 1);
    const int loops = scan_axes(k);
    open_lane(k);
    set_states(k, k->n, true);
    if (!k->x->folds)
        put_result(k);
    plain_end(m, 1 + loops);
    if (!k->x->folds)
        return;
    open_lane(k);
    put_result(k);
    plain_end(m, 1);
}

static void choose_axes(walking *k)
{
    const stage *s = k->m->s;
    const int scan = k->x->folds ? -1 : k->x->axis;
    k->cut = -1;
    for (int a = 0; a < s->n_result; a++)
        if (a != scan && (k->cut < 0 || s->extent[a] > s->extent[k->cut]))
            k->cut = a;
    k->lane = s->n_result && s->n_result - 1 != scan ? s->n_result - 1 : -1;
}

void emit_scan(emitter *m)
{
    const stage *s = m->s;
    walking k = {.m = m, .x = s->value, .w = emit_writer(m), .n = s->value->n_state};
    char state[40];
    int loops = 0;
    choose_axes(&k);
    emit_range(m, k.cut >= 0 ? s->extent[k.cut] : -1);
    for (int a = 0; a < s->n_result; a++) {
        char end[24];
        if (a == k.lane || (!k.x->folds && a == k.x->axis))
            continue;
        snprintf(end, sizeof end, "%lld", (long long)s->extent[a]);
        plain_loop(m, a, a == k.cut ? "low" : "0", a == k.cut ? "high" : end, false), loops++;
    }
    if (k.lane >= 0) {
        const char *end = k.lane == k.cut
                              ? "high"
                              : arena_format(m->mem, "%lld%s", (long long)s->extent[k.lane], m->d->index_suffix);
        code_open(
            &m->out.code,
            (stmt){.kind = S_LOOP, .name = "block", .from = k.lane == k.cut ? "low" : "0", .to = end, .step = BLOCK});
        loops++;
        code_let(&m->out.code, arena_format(m->mem, "const %s", m->d->index), "end",
                 arena_format(m->mem, "MIN(block + %d, %s)", BLOCK, end));
        snprintf(state, sizeof state, "[%s_%d - block]", s->letter[k.lane], k.lane);
        k.w.state = state;
    }
    write_rows(&k);
    plain_end(m, loops);
}
