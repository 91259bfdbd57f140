/* shards.h - a batch in shards, whose gradients, losses and norms are added up in one fixed binary tree: shards decide
 * the bits, the processes that compute them do not. Gradients of a shard are the step's plan. Parameters come in
 * buckets; those of a bucket that one rule updates are one vector, cut evenly: each rank updates its piece of it by a
 * plan of its own and keeps what the optimizer keeps of that piece alone. A bucket's sums go to other ranks while the
 * backward pass makes the next one. A rank's shards are shared out over its devices in the same way (devices.c). Both
 * plans work in these vectors, which are the host's (ts_plan_lend) or lie on cards (cards.c). Private to step.c and
 * shards.c; made, freed, run through step.h. All ranks make the same calls. The ranks are the caller's and outlive
 * it. */
#pragma once
#include "tessera_shared.h"
#include "train/step.h"

/* Groups of a bucket: parameters with and without decay. The last group has statistics, which no optimizer touches. */
enum { DECAYS, STAYS, N_RULE, MOST_BUCKET = 8, MOST_GROUP = N_RULE * MOST_BUCKET + 1 };
enum { MOST_KEPT = 8, MOST_LEVEL = 10 }; /* states of a group; held sums of 1, 2, 4, ... shards */
typedef struct shard_state {             /* what the optimizer keeps, named PARAMETER.name */
    const char *name;
    ts_tensor input; /* [piece] */
    bool begins;     /* with the parameters' values; else with zeros */
} shard_state;
typedef struct shard_group {
    int64_t n, slice, from;    /* elements, of a shard's slice, and where they are in the flat vector */
    ts_tensor parameter, grad; /* inputs of the update [piece]; NULL without elements */
    int n_state;
    shard_state state[MOST_KEPT];
} shard_group;
typedef struct shard_device {   /* computes neighbouring shards, as many as each of the others */
    ts_plan *plan;              /* gradients; of the first one it is the step's */
    ts_array level[MOST_LEVEL]; /* [flat], of which the plan's sums are one */
    int held, lent;             /* lent: which */
    /* Of a shard that it computes in a thread: its place among its own, from 1; whether the last; its loss */
    const step *step;
    pthread_t thread;
    bool runs, ok, last;
    int64_t done;
    double *loss;
    step_result timed;
    ts_error e;
} shard_device;
enum { AT_WEIGHTS, AT_SUMS, AT_HELD }; /* vectors of a card's memory; those held, or received, from there on */
/* Plans beside those of gradients, one on each holder, or card: the update; norms of own slices; sums by the level that
 * is reached; additions by round. */
enum { UPDATE, NORM, CLIMB, ADD = CLIMB + MOST_LEVEL, N_PLAN = ADD + MOST_LEVEL };
typedef struct shards {
    const ranks *ranks;
    int64_t n, own, first; /* of the batch; those of this rank; its slices, from */
    int64_t flat;          /* elements of all groups */
    int n_group, n_bucket; /* n_bucket: with that of statistics */
    shard_group group[MOST_GROUP];
    int *in; /* the group of each weight, and where it is in the flat vector */
    int64_t *at;
    ts_tensor adds;   /* an input: gradients are added to those before */
    ts_array weights; /* [flat] */
    int n_device;
    shard_device device[MOST_DEVICE];
    ts_array mean;             /* [flat]; own pieces of the sums over batches */
    struct exchange *exchange; /* of sums, while the last of this rank's shards is computed; NULL: one rank */
    /* Who updates pieces and keeps what is kept of them: this rank by its first device, or each of its cards */
    int n_holder;
    bool on_cards;
    char why[400]; /* they could be, but for what is not here; else "" */
    ts_plan *plan[N_PLAN][MOST_DEVICE];
    ts_shared *memory[MOST_DEVICE];        /* of a card: vectors lie there, not in the host's memory */
    int64_t batch;                         /* of the run: that of the shard at hand */
    double *loss, *square, *sliced, *room; /* [shard], [slice][weight], [slice], [slice's elements / 16] */
    double *measured;                      /* [group][slice]; own slices: sums of squares, once the sums have come */
    char **name;                           /* of the states, as checkpoints have them */
    float *part, *average; /* on rank 0: of a state that is written, [part] by its bytes; [flat], until the next step */
    size_t part_bytes;
} shards;
/* In step.c; the plan is the step's, or the update's. */
bool step_gradients(step *s, net *n, ts_tensor *in, ts_tensor *grad, ts_error *e); /* each as its parameter */
bool step_scalar(ts_plan *p, int output, double *v, ts_error *e);
bool step_number(const step *s, ts_plan *p, int64_t at, ts_error *e);
bool step_random(const step *s, ts_plan *p, int64_t number,
                 ts_error *e); /* of all shards of the run, or of all batches */
bool step_run_plan(ts_plan *p, const step_result *r, ts_error *e);
float *shards_at(const ts_array *flat, int64_t at); /* an element of a flat vector */
int64_t shards_first(const shards *z, int holder);  /* its slices, each as many as the others, from */

/* left[i] += right[i], of elements from ... to - 1 */
void shards_add(const ts_array *left, const ts_array *right, int64_t from, int64_t to);
bool shards_bring(const step *s, ts_plan *p, ts_error *e); /* the plan's sums, which a device may have */
const ts_array *shards_sums(const shards *z);              /* over all batches of an update so far */
/* A group's sums over all ranks are there: own slices are added to those of the batches before, and measured. */
void shards_arrived(const step *s, int group);
void shards_climb(const shards *z, shard_device *d, int64_t done);
/* In devices.c: plans of all devices that the ranks name, or of o's target. */
typedef struct devices_want {
    ts_graph *g;
    ts_tensor loss;
    int n_state;
    const ts_state *state;
} devices_want;
bool devices_make(step *s, const ts_options *o, const devices_want *want, ts_error *e);
/* The same plan on each of the first n, as z->plan[which] */
bool devices_plans(shards *z, int which, int n, const ts_options *o, const devices_want *want, ts_error *e);
bool devices_run(const shards *z, ts_error *e);
bool devices_build(const shards *z, ts_error *e);
void devices_free(step *s);
bool devices_ready(shard_device *d, ts_error *e); /* it has done what it was told last */
bool devices_start(shard_device *d, ts_error *e); /* its plan has all values of a shard */
bool devices_wait(shards *z, ts_error *e);        /* for all of them; then their sums */
void devices_sum(const shards *z);
/* In cards.c: the same in memory that plans share. Decided once the devices' plans are there. */
void cards_choose(step *s);
bool cards_make(step *s, net *n, const ts_options *o, ts_error *e);
bool cards_begin(step *s, ts_error *e); /* values are on the host: from now on on the cards */
bool cards_climb(const shards *z, const shard_device *d, ts_error *e);
bool cards_sum(const shards *z, ts_error *e);    /* of all of them, to each its own piece */
bool cards_norm(const shards *z, ts_error *e);   /* into z->sliced */
bool cards_bring(const shards *z, ts_error *e);  /* own pieces of sums, to the first device's level 0 */
bool cards_spread(const shards *z, ts_error *e); /* own pieces of weights, to all of them */
/* In exchange.c: sums of buckets over all ranks by a thread, each as soon as the plan has written it; weights in the
 * same way, as the update has written them. */
struct exchange *exchange_make(const step *s, ts_error *e);     /* the plans are there; NULL with e set */
bool exchange_pass(step *s, const step_result *r, ts_error *e); /* the step's plan, once its weights have come */
bool exchange_run(step *s, step_result *r, ts_error *e);        /* the same, while its sums go out */
bool exchange_update(step *s, step_result *r, ts_error *e);     /* the update; weights may come later */
void exchange_free(struct exchange *x);
/* What would be the seconds of exchange_run beside the last of `own` shards, were they as many on each rank of r; and,
 * first, of weights after exchange_update. */
typedef struct exchange_model {
    double *kernel, *update; /* of the step's plan, and of the update of this rank's pieces: seconds each */
    int n_kernel, n_update;
    double busy; /* seconds of the last shard in which weights are still on their way */
    int64_t own;
    double byte;  /* seconds that memory takes for one, where sums are added */
    double crowd; /* ranks whose threads share a core: kernels take that many times as long */
    network net;
} exchange_model;
void exchange_foretell(const step *s, const ranks *r, const exchange_model *m, step_result *out);
void exchange_foretell_round(const step *s, const ranks *r, exchange_model *m, step_result *out); /* sets m->busy */
/* In shards.c and shards_state.c. */
/* sum: by weight, what lies there; NULL: the weights */
bool shards_lend(const step *s, ts_plan *p, const ts_tensor *sum, const ts_array *flat, ts_error *e);
bool shards_lend_sums(step *s, ts_error *e); /* to the update, of own pieces; below the same of weights */
bool shards_lend_weights(step *s, ts_error *e);
bool shards_weights(step *s, ts_error *e); /* the step's weights have changed */
/* Of sums, and of own pieces with what is kept of them, at a rank that has `own` shards; kept: the latter alone. */
double shards_bytes(const step *s, int64_t own, double *kept);
int shards_levels(int64_t each); /* sums that a device holds at once which computes so many shards */
bool shards_make(step *s, net *n, const ranks *r, const ts_options *o, ts_error *e);
void shards_free(step *s);
bool shards_begin(step *s, const ts_tensors *kept, ts_error *e); /* after the weights; NULL: at the beginning */
void shards_drop_average(shards *z);
bool shards_averages(step *s, ts_error *e);              /* comes to rank 0, until the next step */
bool shards_average(step *s, int weight, ts_array *out); /* its average on rank 0, once they are; false: none is kept */
void shards_state_at(const step *s, int k, ts_given *out); /* the k-th of s->n_state states, without data */
/* As step_state_part and step_state_done. */
const void *shards_part(step *s, int k, size_t from, size_t n, ts_error *e);
bool shards_done(step *s, ts_error *e);
