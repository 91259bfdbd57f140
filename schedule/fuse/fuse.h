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
bool fuse_kernels(plan *p, err *e); /* also checks; for passes that change the graph by its kernels */

/* Lengths of expressions, in parts, and where elements are computed (inline_budget.c). */
typedef struct inlining {
    int64_t copies;          /* the most copies of it in one kernel */
    int64_t subscript;       /* the longest subscript by which it is read there */
    int64_t deep;            /* total length from the kernel's result down to its own parts */
    int64_t parts;           /* of an owner: length of its kernel; else what it would add */
    int64_t tally;           /* while another is measured */
    const struct item *site; /* whose loops compute it, of several the longest; NULL: it is read at several places */
    const expr *const *at;   /* its subscripts there, by dimension */
} inlining;

typedef struct item { /* a node that is not a leaf, on its way into a kernel */
    const node *node;
    const expr *raw;   /* as the op defines it */
    const expr *value; /* with what is inlined put in */
    int n_axis;
    int64_t extent[MAX_AXIS];
    varying varies[MAX_AXIS]; /* of these */
    int64_t low[MAX_RANK];    /* by dimension: the first element computed (demand.c) */
    bool fold, inlined, root;
    bool alone, whole; /* a kernel of its own; a routine: takes its operands whole, in rows */
    const node *main;  /* the node that declared the fold, else the node itself: names the axes */
    int n_reader, cap_reader;
    int *reader;        /* ids of the nodes that read it */
    struct item *owner; /* the materialised node in whose kernel it is computed; NULL: several (movement only) */
    bool gathered;      /* movement from places that data say, kept for the work that reads it */
    bool once;          /* movement: no element is read more than once through it */
    bool strayed; /* the reader that inlines it does not read it at its own axes, and perhaps only under a condition */
    bool takes_fold; /* as an owner: has its fold */
    bool contracts;  /* as an owner: that fold reads two values or more */
    double repeated; /* operations for an element that several kernels repeat */
    int reads;       /* as an owner: loads of its kernel, at most; MAX_LOADS is the limit */
    inlining inlining;
    int kernel, mark;
    bool outside;        /* read by another kernel than its own */
    int stream;          /* the axis along which it streams (stream.c): of its result, or folded away; or -1 */
    reason kept;         /* why it was not inlined */
    const node *read_by; /* the owner of the kernel that it was not inlined into; NULL: several */
    int beside;          /* earlier readers are in kernels that are closed */
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
    int *group;              /* by node id: 1 + the first group whose result it is */
    int *next_group;         /* by group: the next one of the same result */
    int *carried;            /* by node id: 1 + the first state that it is, or becomes */
} fuser;
int64_t item_results(const item *it); /* elements of its result */
int64_t item_volume(const item *it);  /* evaluations of its definition's innermost expression */
bool item_is_view(const item *it);    /* pure movement */
const expr *item_only_load(const item *reader, const node *n); /* the one load of n; NULL: there are several */
/* The load reads every element exactly once, at the reader's own axes in some order. */
bool item_walks_along(const expr *load, const item *reader);
/* The site where it is computed; movement goes with what it moves. */
int item_site(const fuser *f, const item *it);
int item_part(const fuser *f, const item *it); /* the part that rules put it in; views are in none */
/* Rules and sites let both be in one kernel. */
bool item_together(const fuser *f, const item *a, const item *b);
int item_operands(const fuser *f, const item *it); /* the most operands a kernel on its device may have */
/* Kernels of other sites read it. */
bool item_crosses(const fuser *f, const item *it);
/* stream.c: whether it streams, from what is known of its readers, which are decided. */
void stream_find(const fuser *f, item *it);
/* Whether r reads `it` in blocks along its own axes, each element about once: such a view need not be stored. */
bool stream_takes(const item *r, const item *it, const expr *load);
bool stream_stays(const fuser *f, const item *it); /* a view that several stages of a stream read */
/* The axes that have more than one element, of its result and the one along which it streams, in the order in which
 * loops are shared. */
int stream_axes(const fuser *f, const item *it, int *axis);
int stream_depth(const fuser *f, const item *it); /* of those, down to the streaming one; 0: it does not stream */
/* Decides whether several kernels each compute it instead of reading it from memory; true: they do. */
bool rematerialize_take(fuser *f, item *it);
/* Whether it may be inlined in its readers, which are decided; counts it there. owner: NULL for several kernels. */
bool inline_take(fuser *f, item *it, item *owner);
bool inline_follows(fuser *f, item *it, const item *owner); /* whether what follows a sum may be its epilogue */
void share_loops(fuser *f); /* share.c: puts all items that are not inlined into kernels */
/* Restricts what is computed of each value to what is read of it. */
void demand_items(fuser *f);
bool form_kernels(fuser *f, err *e);
/* names.c: letters of axes, names of stages and kernels; names_index makes the tables for all kernels first. */
void names_index(fuser *f);
void names_give(fuser *f, const cluster *c, kernel *k);
/* Gives the values between kernels the layouts in which they are walked best. Stages are there, their axes not
 * merged yet. */
void order_values(fuser *f);
/* Whether all accesses of stage s are linear in its axes, and in steps of one along a dimension that lies in blocks. */
bool order_linear(const plan *p, const stage *s);
