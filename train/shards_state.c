/* shards_state.c - what an optimizer keeps of its pieces, to and from checkpoints, which know parameters alone: so a
 * run goes on with any number of ranks. */
#include "train/shards.h"

#include "graph/base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- beginning ---- */
/* The state of all parameters of the group, as a checkpoint has it. */
static bool take_kept(step *s, const shard_group *g, const shard_state *of, const ts_tensors *kept, float *flat,
                      ts_error *e)
{
    const shards *z = s->shards;
    memset(flat + g->from, 0, (size_t)g->n * sizeof *flat);
    for (int i = 0; i < s->n_parameter; i++) {
        const ts_tensor t = s->parameter[i].input;
        if (&z->group[z->in[i]] != g)
            continue;
        ts_array a = {0};
        ENDED_BY(heap_free) char *name = NULL;
        MUST(asprintf(&name, "%s%s", ts_name(t), of->name) > 0);
        bool ok = ts_tensors_get(kept, name, &a, e);
        if (ok && (a.dtype != TS_F32 || a.rank != ts_rank(t) ||
                   memcmp(a.dim, ts_shape(t), (size_t)a.rank * sizeof *a.dim) != 0))
            ok = err_set(e, TS_BAD_INPUT, "\"%s\" is %s in the checkpoint, not as its parameter", name,
                         array_type(&a).s);
        if (ok)
            memcpy(flat + z->at[i], a.data, (size_t)ts_array_count(&a) * sizeof *flat);
        ts_array_free(&a);
        if (!ok)
            return false;
    }
    return true;
}

static bool give_pieces(const shards *z, const shard_group *g, ts_tensor t, const float *flat, ts_error *e)
{
    bool ok = true;
    for (int i = 0; ok && i < z->n_holder; i++) {
        const ts_array a = {.dtype = TS_F32,
                            .rank = 1,
                            .dim = {z->own / z->n_holder * g->slice},
                            .data = (void *)(flat + g->from + shards_first(z, i) * g->slice)};
        ok = step_give(z->plan[UPDATE][i], ts_name(t), &a, e);
    }
    return ok;
}

/* The weights are there; sums, of which shards set what they begin with, lend their memory until then. */
bool shards_begin(step *s, const ts_tensors *kept, ts_error *e)
{
    shards *z = s->shards;
    float *flat = shards_at(&z->device[0].level[0], 0);
    bool ok = shards_lend_weights(s, e);
    for (int i = 0; ok && i < z->n_group; i++)
        for (int k = 0; ok && k < z->group[i].n_state; k++) {
            const shard_state *of = &z->group[i].state[k];
            if (kept)
                ok = take_kept(s, &z->group[i], of, kept, flat, e);
            else if (!of->begins)
                memset(flat + z->group[i].from, 0, (size_t)z->group[i].n * sizeof *flat);
            ok = ok &&
                 give_pieces(z, &z->group[i], of->input, kept || !of->begins ? flat : shards_at(&z->weights, 0), e);
        }
    memset(flat, 0, (size_t)z->flat * sizeof *flat);
    return ok && shards_lend(s, s->plan, s->sum, &z->device[0].level[0], e) && cards_begin(s, e);
}

/* ---- checkpoints ---- */
typedef struct stretch { /* elements of a group, from ... to - 1 */
    const shard_group *of;
    int64_t from, to;
} stretch;

/* Of a state of it, to rank 0. */
static bool collect(const shards *z, const stretch *at, const shard_state *of, float *out, ts_error *e)
{
    const shard_group *g = at->of;
    const int64_t from = at->from, to = at->to;
    const int64_t piece = z->own / z->n_holder * g->slice;
    for (int i = 0; i < z->n_holder; i++) { /* of several, this rank is the only one */
        ts_array a = {0};
        const int64_t first = (shards_first(z, i) - z->first) * g->slice, begin = from > first ? from : first;
        if (!ts_plan_view(z->plan[UPDATE][i], ts_plan_find(z->plan[UPDATE][i], ts_name(of->input)), &a, e))
            return false;
        if (z->n_holder == 1)
            ranks_collect(z->ranks, a.data, piece, from, to, out);
        else if (begin < to && begin < first + piece)
            memcpy(out + (begin - from), (const float *)a.data + (begin - first),
                   (size_t)((to < first + piece ? to : first + piece) - begin) * sizeof *out);
    }
    return true;
}

static const shard_state *find_state(const shards *z, int k, int *weight)
{
    int i = 0;
    for (; k >= z->group[z->in[i]].n_state; i++)
        k -= z->group[z->in[i]].n_state;
    *weight = i;
    return &z->group[z->in[i]].state[k];
}

typedef struct question { /* elements of a state that rank 0 writes next; state -1: no more */
    int64_t state, from, to;
} question;

static bool answer(const shards *z, const question *q, float *out, ts_error *e)
{
    int weight;
    const shard_state *of = find_state(z, (int)q->state, &weight);
    const shard_group *g = &z->group[z->in[weight]];
    const int64_t at = z->at[weight] - g->from;
    return collect(z, &(stretch){g, at + q->from, at + q->to}, of, out, e);
}

const void *shards_part(step *s, int k, size_t from, size_t n, ts_error *e)
{
    shards *z = s->shards;
    question q = {k, (int64_t)(from / sizeof *z->part), (int64_t)((from + n) / sizeof *z->part)};
    float *room = n > z->part_bytes ? realloc(z->part, n) : z->part;
    if (!room)
        return err_memory(e, n, "a part of a checkpoint"), NULL;
    z->part = room, z->part_bytes = n > z->part_bytes ? n : z->part_bytes;
    ranks_take(z->ranks, &q, sizeof q);
    return answer(z, &q, z->part, e) ? z->part : NULL;
}

bool shards_done(step *s, ts_error *e)
{
    const shards *z = s->shards;
    question q = {.state = -1};
    bool ok = true;
    for (ranks_take(z->ranks, &q, sizeof q); ok && q.state >= 0;) {
        ok = answer(z, &q, NULL, e);
        ranks_take(z->ranks, &q, sizeof q);
    }
    return ok;
}

static ts_array view_of(const step *s, int weight)
{
    const ts_tensor t = s->parameter[weight].input;
    ts_array a = {.dtype = TS_F32, .rank = ts_rank(t)};
    memcpy(a.dim, ts_shape(t), (size_t)a.rank * sizeof *a.dim);
    return a;
}

void shards_state_at(const step *s, int k, ts_given *out)
{
    int weight;
    find_state(s->shards, k, &weight);
    *out = (ts_given){s->shards->name[k], view_of(s, weight)};
}

/* ---- averages ---- */
static const shard_state *average_of(const shard_group *g)
{
    int k = 0;
    while (k < g->n_state && !g->state[k].begins)
        k++;
    return k < g->n_state ? &g->state[k] : NULL;
}

bool shards_averages(step *s, ts_error *e)
{
    shards *z = s->shards;
    const size_t n = (size_t)z->flat * sizeof *z->average;
    if (z->ranks->rank == 0 && !z->average && !(z->average = malloc(n)))
        return err_memory(e, n, "the averages of all parameters");
    bool ok = true;
    for (int i = 0; ok && i < z->n_group; i++) {
        const shard_group *g = &z->group[i];
        const shard_state *of = average_of(g);
        ok = !of || collect(z, &(stretch){g, 0, g->n}, of, z->average ? z->average + g->from : NULL, e);
    }
    return ok;
}

void shards_drop_average(shards *z)
{
    heap_free(&z->average), z->average = NULL;
}

bool shards_average(step *s, int weight, ts_array *out)
{
    const shards *z = s->shards;
    if (!average_of(&z->group[z->in[weight]]))
        return false;
    *out = view_of(s, weight);
    out->data = z->average ? z->average + z->at[weight] : NULL;
    return true;
}
