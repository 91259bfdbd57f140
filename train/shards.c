/* shards.c - the two plans of a step in shards: the gradients of one shard, which the step's plan adds to those of the
 * shard before where the tree says so, and the update of this rank's pieces. */
#include "train/shards.h"

#include "graph/base/base.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 16 }; /* elements: slices begin at a cache line */

/* ---- what cannot be cut ---- */
/* What an optimizer keeps of a matrix tells whether an element's update needs that element alone. */
static bool by_elements(step *s, net *n, ts_error *e)
{
    const ts_tensor matrix = ts_input(n->g, "train.matrix", TS_F32, 2, (int64_t[]){2, 3}); /* [2, 3] */
    const step_optimizing one = {.n = 1, .parameter = &matrix, .grad = &matrix};
    ts_updates u = {0};
    if (!step_optimize(s, n, &one, &u, e))
        return false;
    for (int i = 1; i < u.n - 1; i++)
        if (ts_rank(u.update[i].from) != 2 || parameter_count(u.update[i].from) != 6) {
            err_set(e, TS_UNSUPPORTED, "--shards: %s updates whole matrices, which cannot be cut", s->asked->optimizer);
            return err_hint(e, "take another --optimizer, or leave --shards out");
        }
    return true;
}

static bool can_be_cut(step *s, net *n, ts_error *e)
{
    for (int i = 0; i < s->n_weight; i++)
        if (ts_type(s->parameter[i].input) != TS_F32) {
            err_set(e, TS_UNSUPPORTED, "--shards: the parameter \"%s\" is %s, f32 expected", s->parameter[i].name,
                    ts_dtype_name(ts_type(s->parameter[i].input)));
            return err_hint(e, "--freeze '%s' leaves it as it is", s->parameter[i].name);
        }
    return by_elements(s, n, e);
}

/* ---- where weights are ---- */
/* Buckets are of about equal size, in the order of the model. */
static void find_groups(step *s)
{
    enum { LEAST = 1 << 16 }; /* elements: below, a message costs its start */
    shards *z = s->shards;
    int64_t all = 0, before = 0;
    for (int i = 0; i < s->n_parameter; i++)
        all += parameter_count(s->parameter[i].input);
    const int64_t size = all / MOST_BUCKET < LEAST ? LEAST : all / MOST_BUCKET + 1;
    for (int i = 0; i < s->n_parameter; i++) {
        const ts_tensor t = s->parameter[i].input;
        z->in[i] = N_RULE * (int)(before / size) + (step_decays(s->asked, t) ? DECAYS : STAYS);
        before += parameter_count(t);
    }
    z->n_bucket = 1 + (s->n_parameter ? 1 + z->in[s->n_parameter - 1] / N_RULE : 0);
    z->n_group = N_RULE * (z->n_bucket - 1) + 1;
    for (int i = s->n_parameter; i < s->n_weight; i++)
        z->in[i] = z->n_group - 1;
}

/* Each group is as many slices as there are shards, so that ranks of any number have whole ones. */
static void lay_out(step *s)
{
    shards *z = s->shards;
    find_groups(s);
    for (int i = 0; i < s->n_weight; i++) {
        shard_group *g = &z->group[z->in[i]];
        z->at[i] = g->n;
        g->n += (parameter_count(s->parameter[i].input) + ALIGN - 1) / ALIGN * ALIGN;
    }
    for (int i = 0; i < z->n_group; i++) {
        shard_group *g = &z->group[i];
        g->slice = (g->n + z->n * ALIGN - 1) / (z->n * ALIGN) * ALIGN;
        g->n = g->slice * z->n, g->from = z->flat;
        z->flat += g->n;
    }
    for (int i = 0; i < s->n_weight; i++)
        z->at[i] += z->group[z->in[i]].from;
}

int64_t shards_first(const shards *z, int holder)
{
    return z->first + ranks_piece(&(ranks){.count = z->n_holder}, holder) * (z->own / z->n_holder);
}

float *shards_at(const ts_array *flat, int64_t at)
{
    return (float *)flat->data + at;
}

static bool make_room(step *s, ts_error *e)
{
    shards *z = s->shards;
    const size_t n = (size_t)s->n_weight + 1;
    bool ok = ts_array_make(&z->weights, TS_F32, 1, &z->flat, e);
    if (ok && s->asked->accumulate > 1)
        ok = ts_array_make(&z->mean, TS_F32, 1, &z->flat, e);
    z->loss = calloc((size_t)z->n, sizeof *z->loss);
    z->square = calloc((size_t)z->n * n, sizeof *z->square);
    int64_t most = 0;
    for (int i = 0; i < z->n_group; i++)
        most = z->group[i].slice > most ? z->group[i].slice : most;
    z->sliced = calloc((size_t)z->n, sizeof *z->sliced), z->room = calloc((size_t)most / 16 + 1, sizeof *z->room);
    z->measured = calloc((size_t)(z->n * z->n_group), sizeof *z->measured);
    return ok && ((z->loss && z->square && z->sliced && z->room && z->measured) ||
                  err_memory(e, (size_t)z->n * n * sizeof *z->square, "the norms of %lld shards", (long long)z->n));
}

bool shards_lend(const step *s, ts_plan *p, const ts_tensor *sum, const ts_array *flat, ts_error *e)
{
    bool ok = true;
    for (int i = 0; ok && i < s->n_weight; i++) {
        const ts_tensor t = sum ? sum[i] : s->parameter[i].input; /* as the weight */
        ts_array a = {.dtype = TS_F32, .rank = ts_rank(t), .data = shards_at(flat, s->shards->at[i])};
        memcpy(a.dim, ts_shape(t), (size_t)a.rank * sizeof *a.dim);
        const int port = ts_plan_find(p, ts_name(t));
        ok = port < 0 || ts_plan_lend(p, port, &a, e);
    }
    return ok;
}

bool shards_weights(step *s, ts_error *e)
{
    bool ok = true;
    for (int i = 0; ok && i < s->shards->n_device; i++)
        ok = shards_lend(s, s->shards->device[i].plan, NULL, &s->shards->weights, e);
    return ok;
}

/* ---- gradients of one shard ---- */
/* sum' = gradient, or sum + gradient where the shard before waits for it. */
static bool add_sum(step *s, net *n, int i, ts_tensor grad, ts_state *out)
{
    char name[1100];
    snprintf(name, sizeof name, "%.1000s.sum", ts_name(s->parameter[i].input));
    const ts_tensor t = s->parameter[i].input,
                    sum = ts_input(n->g, name, TS_F32, ts_rank(t), ts_shape(t)); /* as the weight, all of them */
    s->sum[i] = sum;
    *out = (ts_state){sum, ts_call3(n->g, "where", s->shards->adds, ts_call2(n->g, "add", sum, grad), grad)};
    return sum != NULL;
}

static bool make_gradients(step *s, net *n, const ts_options *o, ts_error *e)
{
    const size_t most = (size_t)s->n_weight + 1;
    ENDED_BY(heap_free) ts_tensor *grad = heap_array(2 * most, sizeof *grad);
    ENDED_BY(heap_free) ts_state *state = heap_array(most, sizeof *state);
    s->sum = heap_array(most, sizeof *s->sum);
    bool ok = step_gradients(s, n, grad + most, grad, e);
    s->shards->adds = ok ? ts_input(n->g, "train.adds", TS_BOOL, 0, NULL) : NULL;
    for (int i = 0; ok && i < s->n_weight; i++)
        ok = add_sum(s, n, i, i < s->n_parameter ? grad[i] : s->follow[i - s->n_parameter], &state[i]) ||
             ts_graph_ok(n->g, e);
    const ts_tensor loss = ok ? ts_call1(n->g, "cast to=f64", s->loss) : NULL;
    if (ok && ts_graph_ok(n->g, e))
        ok = devices_make(s, o, &(devices_want){n->g, loss, s->n_weight, state}, e);
    return ok && s->plan;
}

/* ---- the update of this rank's pieces ---- */
static void add_group(step *s, net *n, int i, ts_tensor *weight, ts_tensor *grad)
{
    const shards *z = s->shards;
    shard_group *g = &s->shards->group[i];
    const int64_t piece = z->own / z->n_holder * g->slice;
    const char *rule = i % N_RULE == STAYS ? "stays" : "decays";
    char name[40];
    snprintf(name, sizeof name, "train.%s%d", rule, i / N_RULE);
    *weight = g->parameter = ts_input(n->g, name, TS_F32, 1, &piece); /* [piece] */
    snprintf(name, sizeof name, "train.sum.%s%d", rule, i / N_RULE);
    g->grad = ts_input(n->g, name, TS_F32, 1, &piece);                                            /* [piece] */
    *grad = ts_call2(n->g, "multiply", g->grad, ts_input(n->g, "train.factor", TS_F32, 0, NULL)); /* [piece] */
}

/* "train.decays0.m" is the state m of the group. */
static shard_group *group_of(shards *z, const char *state, const char **name)
{
    for (int i = 0; i < z->n_group; i++) {
        const char *own = z->group[i].parameter ? ts_name(z->group[i].parameter) : NULL;
        const size_t n = own ? strlen(own) : 0;
        if (own && strncmp(state, own, n) == 0 && state[n] == '.')
            return *name = state + n, &z->group[i];
    }
    return NULL;
}

static bool keep_states(step *s, const ts_updates *u, ts_error *e)
{
    for (int i = 0; i < u->n - 1; i++) {
        const ts_update *is = &u->update[i];
        const char *name;
        shard_group *g = group_of(s->shards, ts_name(is->from), &name);
        if (!g) /* the parameters themselves */
            continue;
        if (g->n_state == MOST_KEPT)
            return err_set(e, TS_UNSUPPORTED, "--shards: %s keeps more than %d states", s->asked->optimizer, MOST_KEPT);
        g->state[g->n_state++] = (shard_state){.name = name, .input = is->from, .begins = is->start == g->parameter};
    }
    return true;
}

static bool make_update(step *s, net *n, const ts_options *o, ts_error *e)
{
    static const ts_rule stays = {.names = "train.stays*", .settings = "decay=0"};
    ts_tensor weight[MOST_GROUP], grad[MOST_GROUP]; /* [piece] */
    ts_state state[MOST_GROUP * (MOST_KEPT + 1)];
    ts_updates u = {0};
    int k = 0;
    for (int i = 0; i < s->shards->n_group - 1; i++)
        if (s->shards->group[i].n)
            add_group(s, n, i, &weight[k], &grad[k]), k++;
    const step_optimizing all = {.n = k, .parameter = weight, .grad = grad, .rule = &stays, .n_rule = 1};
    if (!ts_graph_ok(n->g, e) || !step_optimize(s, n, &all, &u, e) || !keep_states(s, &u, e))
        return false;
    for (int i = 0; i < u.n - 1; i++)
        state[i] = (ts_state){u.update[i].from, u.update[i].to};
    const devices_want want = {.g = n->g, .loss = s->rate, .n_state = u.n - 1, .state = state};
    return devices_plans(s->shards, UPDATE, s->shards->n_holder, o, &want, e);
}

/* What the update reads, and writes, are own pieces of the vectors that the gradients' plan works in. */
static bool lend_piece(step *s, const shard_group *g, ts_tensor t, const ts_array *flat, ts_error *e)
{
    const shards *z = s->shards;
    bool ok = true;
    for (int i = 0; ok && i < z->n_holder; i++) {
        const ts_array a = {.dtype = TS_F32,
                            .rank = 1,
                            .dim = {z->own / z->n_holder * g->slice},
                            .data = shards_at(flat, g->from + shards_first(z, i) * g->slice)};
        ok = ts_plan_lend(z->plan[UPDATE][i], ts_plan_find(z->plan[UPDATE][i], ts_name(t)), &a, e);
    }
    return ok;
}

bool shards_lend_sums(step *s, ts_error *e)
{
    const shards *z = s->shards;
    bool ok = true;
    for (int i = 0; ok && i < z->n_group - 1; i++)
        if (z->group[i].parameter)
            ok = lend_piece(s, &z->group[i], z->group[i].grad, shards_sums(z), e);
    return ok;
}

bool shards_lend_weights(step *s, ts_error *e)
{
    bool ok = true;
    for (int i = 0; ok && i < s->shards->n_group - 1; i++)
        if (s->shards->group[i].parameter)
            ok = lend_piece(s, &s->shards->group[i], s->shards->group[i].parameter, &s->shards->weights, e);
    return ok;
}

/* As a step that is one plan would have them: those of a parameter together. */
static void name_states(step *s)
{
    shards *z = s->shards;
    for (int i = 0; i < s->n_parameter; i++)
        s->n_state += z->group[z->in[i]].n_state;
    z->name = heap_array((size_t)s->n_state + 1, sizeof *z->name);
    for (int i = 0, k = 0; i < s->n_parameter; i++)
        for (int j = 0; j < z->group[z->in[i]].n_state; j++)
            MUST(asprintf(&z->name[k++], "%s%s", ts_name(s->parameter[i].input), z->group[z->in[i]].state[j].name) > 0);
}

static bool lend_sums(const step *s, ts_error *e) /* each device's own */
{
    bool ok = true;
    for (int i = 0; ok && i < s->shards->n_device; i++)
        ok = shards_lend(s, s->shards->device[i].plan, s->sum, &s->shards->device[i].level[0], e);
    return ok;
}

bool shards_make(step *s, net *n, const ranks *r, const ts_options *o, ts_error *e)
{
    shards *z = s->shards = heap_array(1, sizeof *z);
    z->ranks = r, z->n = s->asked->shards, z->own = z->n / r->count, z->n_device = ranks_devices(r);
    z->first = ranks_piece(r, r->rank) * z->own, z->n_holder = 1;
    z->in = heap_array((size_t)s->n_weight + 1, sizeof *z->in);
    z->at = heap_array((size_t)s->n_weight + 1, sizeof *z->at);
    if (!can_be_cut(s, n, e))
        return false;
    lay_out(s);
    if (!make_room(s, e) || !make_gradients(s, n, o, e))
        return false;
    cards_choose(s);
    if (!make_update(s, n, o, e) || !cards_make(s, n, o, e))
        return false;
    name_states(s);
    return shards_weights(s, e) && lend_sums(s, e) && (z->exchange = exchange_make(s, e)) != NULL;
}

double shards_bytes(const step *s, int64_t own, double *kept)
{
    const shards *z = s->shards;
    const int64_t n = z->flat * (1 + (z->mean.data != NULL) + z->n_device * shards_levels(own / z->n_device));
    *kept = 0;
    for (int i = 0; i < z->n_group; i++)
        *kept += (double)(z->group[i].n_state * own * z->group[i].slice) * sizeof(float);
    return (double)n * sizeof(float) + *kept;
}

void shards_free(step *s)
{
    shards *z = s->shards;
    if (!z)
        return;
    exchange_free(z->exchange);
    devices_free(s);
    shards_drop_average(z), free(z->part);
    for (int i = 0; z->name && z->name[i]; i++)
        free(z->name[i]);
    ts_array_free(&z->weights), ts_array_free(&z->mean);
    free(z->in), free(z->at), free(z->loss), free(z->square), free(z->sliced), free(z->room), free(z->measured);
    free(z->name), free(z);
}
