/* passes.h - steps from a graph to a plan, one file each: plan_make's table has their order and what each guarantees.
 * What they make is the plan's, nodes are the graph's; one that fails leaves its reason in e.
 *
 * The room:  the graph:   join, known, extents, common, alternatives (blocks)
 *            kernels:     checkpointing (checkpointing_cut), apart
 *            loops:       loops (split, split_states, mask, mask_stream), scans
 *            memory:      memory (beside, reuse), launches */
#pragma once
#include "schedule/plan/plan.h"

bool pass_join(plan *p, err *e);
bool pass_known(plan *p, err *e);
bool pass_extents(plan *p, err *e); /* nothing where no dimension varies */
bool pass_common(plan *p, err *e);  /* nothing in the judge's plan, nor where a dimension varies */
bool pass_dots(plan *p, err *e);
bool pass_alternatives(plan *p, err *e);
bool pass_checkpointing(plan *p, err *e);
bool pass_apart(plan *p, err *e);
bool pass_loops(plan *p, err *e);
bool pass_scans(plan *p, err *e);
bool pass_memory(plan *p, err *e);
bool pass_launches(plan *p, err *e); /* nothing where the target launches each kernel by itself, or over devices */

/* ---- between passes ---- */
/* What stands for a node at a small extent of the range, in the graph there: what the least that a choice gains is
 * weighed by. n where it is in no range; NULL: nothing stands for it. */
const node *extents_small_node(const plan *p, const node *n);
/* A rewriting of the graph, whose roots are now `root`, is done in the graphs at other extents too: `there` of what
 * stands there for a node of which something else stands here, which `done` says by id. What is computed then follows
 * variables anew. False, and nothing done, where the graphs do not fit together then. `done` lasts as the plan does. */
typedef struct extents_rewriting {
    const node *const *root;
    const bool *done;
    const node *(*there)(const plan *p, graph *g, const node *n);
} extents_rewriting;
bool extents_rewrite(plan *p, const extents_rewriting *r);
/* extents_trip.c: of a scan's trip. Whether anything in it varies; what p, of whose graph it is, found of its results
 * `was` and all that they are computed from, as what q is to follow, which plans it: in place of the pass. */
bool extents_within(const plan *p, const node *scan);
void extents_inherit(plan *q, const plan *p, const node *const *was);

/* Fewer operations, with what is gone through beside them, by the share that the operation asks for; and what is saved
 * is not spent on waiting for more weights. False where n offers none. What is not so goes into `no`, with the name of
 * the way, if n offers one. */
bool alternative_pays(const target *on, const node *n, declined *no);

bool blocks_take(plan *p, err *e); /* long sums in blocks: p->root becomes roots of the same values up to rounding */

/* beside.c: scans that one worker each makes, side by side, and in streams of a device other kernels too: those that
 * need nothing of one another follow one another in a plan's order, lie apart in memory, and are made by as many
 * workers at once. Trips of scans have no barrier. Moves what one worker makes next to one another where the order of
 * what they need allows it, as many as there are workers or streams, and numbers them (kernel.beside). Bits and work
 * stay as they are. */
void beside_order(plan *p);
/* Numbers them anew, after other moves. */
void beside_number(plan *p);
/* Lives last as long as any of the kernels beside those that begin and end them. Requires lifetimes. */
void beside_lives(const plan *p, buffer **all, int n);

/* reuse.c: results that lie where an operand of their kernel lay, because each of their elements reads it there and
 * nowhere else. Derived from where loads and stores are, as affine indices of the loops; no operation is named.
 * May stage `which` of k write over operand n, of which nothing is needed after k? It may when every read of it by that
 * stage is of the place being written, and every read by an earlier stage is of places written in the same
 * trip of the shared loops. */
bool reuse_legal(const plan *p, const kernel *k, int which, const node *n);
/* Moves kernels whose results inputs become behind those that read the inputs, where nothing between needs them. */
void carry_order(plan *p);
/* Buffers in the inputs that become them, where nothing reads the old value afterwards. Requires lifetimes. */
void carry_in_place(plan *p);
