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
        bool good = ts_tensors_get(kept, name, &a, e);
        if (good && (a.dtype != TS_F32 || a.rank != ts_rank(t) ||
                     memcmp(a.dim, ts_shape(t), (size_t)a.rank * sizeof *a.dim) != 0))
            good = err_set(e, TS_BAD_INPUT, "\"%s\" is %s in the checkpoint, not as its parameter", name,
                           array_type(&a).s);
        if (good)
            memcpy(flat + z->at[i], a.data, (size_t)ts_array_count(&a) * sizeof *flat);
        ts_array_free(&a);
        if (!good)
            return false;
    }
    return true;
}

static bool give_pieces(const shards *z, const shard_group *g, ts_tensor t, const float *flat, ts_error *e)
{
    bool good = true;
    for (int i = 0; good && i < z->n_holder; i++) {
        const ts_array a = {.dtype = TS_F32,
                            .rank = 1,
                            .dim = {z->own / z->n_holder * g->slice},
                            .data = (void *)(flat + g->from + shards_first(z, i) * g->slice)};
        good = step_give(z->plan[UPDATE][i], ts_name(t), &a, e);
    }
    return good;
}

/* The weights are there; sums, of which shards set what they begin with, lend their memory until then. */
bool shards_begin(step *s, const ts_tensors *kept, ts_error *e)
{
    shards *z = s->shards;
    float *flat = shards_at(&z->device[0].level[0], 0);
    bool good = shards_lend_weights(s, e);
    for (int i = 0; good && i < z->n_group; i++)
        for (int k = 0; good && k < z->group[i].n_state; k++) {
            const shard_state *of = &z->group[i].state[k];
            if (kept)
                good = take_kept(s, &z->group[i], of, kept, flat, e);
            else if (!of->begins)
                memset(flat + z->group[i].from, 0, (size_t)z->group[i].n * sizeof *flat);
            good = good &&
                   give_pieces(z, &z->group[i], of->input, kept || !of->begins ? flat : shards_at(&z->weights, 0), e);
        }
    memset(flat, 0, (size_t)z->flat * sizeof *flat);
    return good && shards_lend(s, s->plan, s->sum, &z->device[0].level[0], e) && cards_begin(s, e);
}

/* ---- checkpoints ---- */
static bool collect(const shards *z, const shard_state *of, int64_t n, ts_error *e)
{
    const size_t piece = (size_t)(n / z->ranks->count / z->n_holder) * sizeof *of->whole;
    for (int i = 0; i < z->n_holder; i++) {
        ts_array a = {0};
        if (!ts_plan_view(z->plan[UPDATE][i], ts_plan_find(z->plan[UPDATE][i], ts_name(of->input)), &a, e))
            return false;
        ranks_collect(z->ranks, a.data, of->whole ? of->whole + shards_first(z, i) * (n / z->n) : NULL, piece);
    }
    return true;
}

bool shards_whole(step *s, ts_error *e)
{
    const shards *z = s->shards;
    for (int i = 0; i < z->n_group; i++)
        for (int k = 0; k < z->group[i].n_state; k++) {
            shard_state *of = &s->shards->group[i].state[k];
            const int64_t n = z->group[i].n;
            if (z->ranks->rank == 0 && !of->whole && !(of->whole = calloc((size_t)n, sizeof *of->whole)))
                return err_memory(e, (size_t)n * sizeof *of->whole, "the state%s of all parameters", of->name);
            if (!collect(z, of, n, e))
                return false;
        }
    return true;
}

static void view_of(const step *s, int weight, const shard_state *of, ts_array *out)
{
    const shards *z = s->shards;
    const ts_tensor t = s->parameter[weight].input;
    *out = (ts_array){.dtype = TS_F32, .rank = ts_rank(t)};
    memcpy(out->dim, ts_shape(t), (size_t)out->rank * sizeof *out->dim);
    if (of->whole)
        out->data = of->whole + z->at[weight] - z->group[z->in[weight]].from;
}

bool shards_average(step *s, int weight, ts_array *out)
{
    const shard_group *g = &s->shards->group[s->shards->in[weight]];
    for (int k = 0; k < g->n_state; k++)
        if (g->state[k].begins) {
            view_of(s, weight, &g->state[k], out);
            return true;
        }
    return false;
}

void shards_state_at(const step *s, int k, ts_given *out)
{
    const shards *z = s->shards;
    int i = 0, left = k;
    for (; left >= z->group[z->in[i]].n_state; i++)
        left -= z->group[z->in[i]].n_state;
    out->name = z->name[k];
    view_of(s, i, &z->group[z->in[i]].state[left], &out->value);
}
