/* explain.h - a plan as JSON, plan/1: what explain, bench and report show; docs/plan.md has its keys.
 * A finished plan is only read. Keys may be added, those that there are keep their meaning. What is written goes to the
 * end of the caller's text.
 *
 * The room:  explain (sites, tile, work, predict, checkpointing): the plan    schema: a file of rules that gives it
 *            again    search: what other loops its kernels could have    ledger: who writes, reads and waits */
#pragma once
#include "schedule/plan/plan.h"

/* Both append to out, the caller's. by: the back end's name; facts: members of a JSON object, which go under "build";
 * "" when there are none. */
void plan_explain(const plan *p, const char *by, const char *facts, text *out);
/* A tiling/1 file that the plan's loops amount to: read back for the same model, it gives the same plan. */
void plan_schema(const plan *p, const char *by, text *out);

/* ledger.c: ledger/1, every value in memory with who writes and reads it, and what kernels wait for. say: adds members
 * that the asker knows of an input or a root, the other of both being -1. */
typedef struct ledger_asker {
    const char *by; /* the back end of a plan for one device */
    bool at_edges;  /* whose kernels wait for none but those that they have to wait for */
    void (*say)(const void *user, int input, int root, text *out);
    const void *user;
} ledger_asker;
void plan_ledger(const plan *p, const ledger_asker *asker, text *out);

/* sites.c: who has what, and what goes between them. Of a plan for one device all of it is that plan. */
const plan *sites_plan(const plan *p, const kernel *k);               /* with k's target, loops and buffers */
void sites_explain_transfer(text *t, const plan *p, const kernel *k); /* the members of a kernel, after its name */
void sites_explain(text *t, const plan *p);                           /* "places"; nothing for one device */
void sites_notes(const plan *p, text *out);                           /* lines */
double sites_weights(const plan *p);                                  /* bytes, in their layouts */
double sites_sum(const plan *p, double (*of)(const plan *part));      /* over the parts; of one device, of itself */

/* work.c: "work" of kernel i: operation, name and arithmetic of the node of the model that it computes or takes part
 * in, and the way; nothing where the kernel itself says as much. */
void work_explain(text *t, const plan *p, int i);
const node *work_node(const plan *p, int i); /* that node */

typedef struct saving { /* what a rule amounts to */
    int values;
    double bytes; /* of the values not kept */
    double peak;  /* bytes that less is alive at once than in the plan without the rule; below 0: more */
    double flops; /* computed again */
} saving;
saving checkpointing_saving(const plan *p, int which);
/* Lines of warnings: rules by which nothing is computed again, or in vain. */
void checkpointing_unused(const plan *p, text *out);

/* "tile":{...}, by which two nests can be told apart; n: what the kernel's text does, NULL: it has none */
void tile_explain(text *t, const plan *p, const kernel *k, const op_counts *n);

/* predict.c: how long a kernel takes on a machine of workers that are one lane each, by its loops and the target's
 * rates. What is walked by no nest has the time of its operations and bytes. */
typedef struct prediction {
    double seconds;
    const char *bound; /* what takes most of it: "multiplying", "loads", a level's name, "start" */
} prediction;
/* n, with the bytes that its loops work on; n NULL: both are counted here */
prediction kernel_predict(const plan *p, const kernel *k, const op_counts *n, const footprint *bytes);

void bits_explain(text *t, const plan *p); /* bits.c: "bits":{...} */

/* search.c: appends an array of at most `most` loops that kernel k of the plan could have, each legal there, as objects
 * with "loops", as a rule takes them, and their prediction. seed 0: those that are predicted to be quickest, the
 * quickest first; else drawn at random. Of several stages the one that does most of the work gets other loops. */
void plan_nests(const plan *p, const kernel *k, int most, uint64_t seed, text *out);
