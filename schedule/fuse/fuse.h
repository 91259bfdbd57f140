/* fuse.h - the fusion pass, and what its parts share: from the nodes of a graph to kernels of stages.
 *
 * The room:  fuse: what is put into its readers -> item, stream, inline_budget, rematerialize
 *            demand: what is read at all    share: what is left joins loops
 *            stages, names, order: kernels, written down
 *
 * A fuser lives for one pass; its items and clusters are of the plan's arena. Items are in the order of their nodes, so
 * that operands come before readers. */
#pragma once
#include "schedule/plan/plan.h"

bool pass_fuse(plan *p, err *e);    /* nothing where the plan is fused */
bool fuse_kernels(plan *p, err *e); /* for passes that need kernels to decide what the graph is to be: with the check */

/* Lengths of expressions, in parts, and where elements are computed (inline_budget.c). */
typedef struct inlining {
    int64_t copies;    /* times that it would stand in one kernel, at most */
    int64_t subscript; /* the longest subscript at which it would be read there */
    int64_t deep;      /* on the way from the kernel's result down to its own parts, in all */
    int64_t parts;     /* that it would add to the kernel; of an owner: that the kernel has */
    int64_t tally;     /* while another is measured */
    const struct item
        *site; /* by whose loops it is computed, of several the longest; NULL: it is read at several places */
    const expr *const *at; /* of which axes there, by dimension */
} inlining;

typedef struct item { /* a node that is not a leaf, on its way into a kernel */
    const node *node;
    const expr *raw;   /* as the op defines it */
    const expr *value; /* with what is inlined put in */
    int n_axis;
    int64_t extent[MAX_AXIS];
    varying varies[MAX_AXIS]; /* of these */
    int64_t low[MAX_RANK];    /* by dimension: the first element computed; all, with extent: demand.c */
    bool fold, inlined, root;
    bool alone, whole; /* a kernel of its own; a routine: takes its operands whole, in rows */
    const node *main;  /* the node that declared the fold, else the node itself: names the axes */
    int n_reader, cap_reader;
    int *reader;        /* ids of the nodes that read it */
    struct item *owner; /* the materialised node in whose kernel it is computed; NULL: several (movement only) */
    bool gathered;      /* movement from places that data say, kept for the work that reads it */
    bool once;          /* movement: no element is read more than once through it */
    bool strayed; /* what it is inlined into reads it elsewhere than at that one's own axes, and perhaps not always */
    bool takes_fold; /* as an owner: has its fold */
    bool contracts;  /* as an owner: that fold reads two values or more */
    double repeated; /* operations on an element that several kernels repeat, down to what they read */
    int reads;       /* as an owner: loads of its kernel, at most; MAX_LOADS is the limit */
    inlining inlining;
    int kernel, mark;
    bool outside;        /* read by another kernel than its own */
    int stream;          /* the axis along which it streams (stream.c): of its result, or folded away; or -1 */
    reason kept;         /* why it is not computed where it is read */
    const node *read_by; /* the value in whose kernel that would be; NULL: there are several */
    int beside;          /* readers before this one are in kernels that nothing joins any more */
} item;
typedef struct cluster {
    int n, shared; /* members; leading axes (of more than one element) walked together */
    item *member[MAX_STAGES];
    bool done;
} cluster;
typedef struct reading { /* a stage that reads a node */
    int kernel, stage;
    const struct reading *next; /* by kernel and stage */
} reading;
typedef struct fuser {
    plan *p;
    int n;
    const node **need;
    item **item; /* by node id; NULL for leaves */
    int n_kernel, n_order, visit;
    cluster *kernel;
    int *order, *latest;     /* latest: see kernel_joined */
    const reading **reading; /* by node id: who reads it, once there are stages */
    int *group;              /* by node id: one more than the first group of which it is the result */
    int *next_group;         /* by group: the next one of the same result */
    int *carried;            /* by node id: one more than the first state that it is, or becomes */
} fuser;
int64_t item_results(const item *it); /* elements of its result */
int64_t item_volume(const item *it);  /* times the innermost expression of its own definition is evaluated */
bool item_is_view(const item *it);    /* pure movement */
const expr *item_only_load(const item *reader, const node *n); /* of n; NULL when it reads n at several places */
/* The load reads every element exactly once, at the reader's own axes in some order. */
bool item_walks_along(const expr *load, const item *reader);
/* The site where it is computed; movement goes with what it moves. */
int item_site(const fuser *f, const item *it);
int item_part(const fuser *f, const item *it); /* that rules make kernels of; views are no work of their own */
/* Rules and sites let both be in one kernel. */
bool item_together(const fuser *f, const item *a, const item *b);
int item_operands(const fuser *f, const item *it); /* that a kernel where it is computed may have, at most */
/* Kernels of other sites read it. */
bool item_crosses(const fuser *f, const item *it);
/* stream.c: whether it streams, from what is known of its readers, which are decided. */
void stream_find(const fuser *f, item *it);
/* Reader r has `it` as its own elements in blocks, each of them about once: that is no movement away from them. */
bool stream_takes(const item *r, const item *it, const expr *load);
bool stream_stays(const fuser *f, const item *it); /* a view that several stages of a stream read */
/* The axes that have more than one element, of its result and the one along which it streams, in the order in which
 * loops are shared. */
int stream_axes(const fuser *f, const item *it, int *axis);
int stream_depth(const fuser *f,
                 const item *it); /* how many of them there are down to that one; 0: it does not stream */
/* Several kernels compute it rather than read it from memory; true when that was decided. */
bool rematerialize_take(fuser *f, item *it);
/* it may be put into its readers, which are decided, and is counted there. owner: NULL for several kernels. */
bool inline_take(fuser *f, item *it, item *owner);
bool inline_follows(fuser *f, item *it, const item *owner); /* whether the sum may have what follows it behind it */
void share_loops(fuser *f); /* share.c: puts all items that are not inlined into kernels */
/* Restricts what is computed of each value to what is read of it. */
void demand_items(fuser *f);
bool form_kernels(fuser *f, err *e);
/* Letters of axes, names of stages and kernels (names.c); what they are looked up in, once for all kernels. */
void names_index(fuser *f);
void names_give(fuser *f, const cluster *c, kernel *k);
/* Gives the values between kernels the layouts in which they are walked best. Stages are there, their axes not
 * merged yet. */
void order_values(fuser *f);
/* All that stage s touches lies along its axes; where a dimension lies in blocks, along the axis in steps of one. */
bool order_linear(const plan *p, const stage *s);
