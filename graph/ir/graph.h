/* graph.h - lazy and immutable. Building never computes; equal nodes are the same node; creation order is topological.
 * One exception: an extent that was left open is said once, in the node itself (g_close), since who left it open holds
 * that node and goes on with it. What is known never changes, and equal to another it cannot become.
 * Nodes are the graph's and live as long as it does; data of a weight may be a file's that stays mapped for as long.
 * The room:  fn -> expr (_same, _text) -> op (attr, rule) -> graph (api, cost) -> print  element, small, array, npy
 *         scalars  one element           a record           nodes              text      types and values
 *            trip, scan: loops as nodes
 *            find, ops_json, problem: the table of operations, asked by name, as JSON, and for its test problems
 *            define, custom: operations that a program adds to a graph
 *            function, scalar, diff: scalar functions that one adds, expanded and differentiated
 *            open: extents that a use says; axes: names of axes, as units */
#pragma once
#include "graph/ir/op.h"

/* preset: the value of an input, given before anything is planned. Where a shape or the flow of a model was derived
 * from it, it is used, and every run has to bring the same one. */
typedef struct preset {
    ts_array value;
    bool used;
    bool held; /* no input at all: a constant or weight with this value */
} preset;

/* leaf: what an input, weight or constant carries beside its type. */
typedef struct leaf {
    enum { LEAF_INPUT, LEAF_WEIGHT, LEAF_CONST } kind;
    /* Weights and constants from a file or memory, row-major, not always aligned; NULL: an input, or seeded */
    const void *data;
    double mean, scale; /* seeded: element i is (float)(mean + scale * random_unit(seed, i)) */
    uint64_t seed;
    const node *of; /* its value is that of this node, computed when it is read; or NULL */
    int64_t below;  /* inputs of integers: valid values are [0, below); 0: unknown */
    bool bound;     /* inputs: of one trip of a scan, which gives the value */
    preset *preset; /* inputs; NULL: nothing is. No part of any identity */
} leaf;

typedef struct scan_trip { /* what one trip of a scan computes: see trip.h */
    int n_root;
    const node *const *root;
} scan_trip;

typedef struct source_line { /* in the program that builds a graph, as it says */
    const char *file;        /* NULL: it does not */
    int line;
} source_line;

struct ts_node {
    const op *op;
    type type;
    int id;                /* index in the graph, hence a topological order */
    int index;             /* which output of its operation */
    bool back;             /* made by the chain rule, or in the place of what was. No part of its identity */
    const node *origin;    /* output 0 of that operation; NULL: this node itself. No part of its identity */
    const char *label;     /* leaves and named results; "" otherwise */
    const attr *attr;      /* one per entry of op->attr, in that order, defaults filled in */
    const leaf *leaf;      /* leaves only */
    const type *output;    /* of an operation with several outputs: what they are (custom.h); else NULL */
    int n_output;          /* how many these are */
    const scan_trip *trip; /* of a scan; NULL: all others */
    int past;              /* 1 + the number of a scan that has ended: a trip of it computes this. No identity */
    const char *closed_by; /* the call that said extents of it that were open; NULL: who made it. No identity */
    scalars *scalars;      /* functions of the graph that its text may call, or NULL. No part of its identity */
    source_line site;      /* where it was made first. No part of its identity */
    const char **axes;     /* names of its axes, some of them NULL, or NULL: axes.c. No part of its identity */
    int n_in;
    const node *const *in;
};

typedef struct group { /* a recipe that was expanded here; no part of any node's identity */
    const op *op;
    const node *result;
    int n_in;
    const node *const *in;
    const attr *attr;
    int first, last; /* ids of the nodes made for it lie in [first, last] */
} group;

/* Who goes on reading a graph that somebody else owns, and so has to hear that it is gone. */
typedef struct graph_user {
    graph *of; /* NULL once it was freed */
    struct graph_user *next, *before;
} graph_user;
typedef struct graph_users graph_users; /* all of one graph, of which several may end at the same time */

struct ts_graph {
    arena mem;
    graph_users *users;
    const node **node;
    node **made; /* by id, to give names and marks, which are no part of identity; NULL: made in another graph */
    int n, cap;
    group *group;
    int n_group, cap_group;
    int *same;              /* open hash table of ids + 1 */
    int cap_same, n_former; /* nodes that stand there under the hash of what they were, too */
    const node **open;      /* nodes with open extents: open.c */
    int n_open, cap_open;
    const node **input; /* open hash table of the inputs by name */
    int n_input, cap_input;
    const ts_array **value; /* by id: what g_value found so far */
    int cap_value, depth;
    const op **custom; /* defined by the program */
    int n_custom, cap_custom;
    scalars *scalars; /* functions; NULL: none yet */
    int n_scan;       /* begun so far */
    int n_own;        /* numbers that calls without one were given: the same for the same calls in the same order */
    bool looped;      /* however few trips there are, they are a scan: see g_few_trips */
    bool waits;       /* what was refused last waits for a value: see g_wait */
    bool tired;       /* a value that was needed would have taken too long: see g_needed */
    double work, most_work; /* elements that were gone through for such values; that may be */
    source_line site;       /* of the call under way */
    err err;
};

graph_users *graph_users_make(void);
void graph_users_free(graph_users *u);
void g_add_user(graph *g, graph_user *u);
void g_drop_user(graph_user *u); /* one that is none, too */
/* Builders give NULL on a mistake and for a NULL operand; g->err keeps the first reason. */
const node *g_leaf(graph *g, const op *kind, const char *label, const type *t, const leaf *l);
const node *g_input(graph *g, const char *label, const type *t, preset *k); /* k: may be NULL, else outlives g */
/* Data borrowed for the graph's life */
const node *g_weight(graph *g, const char *label, const type *t, const void *data);
/* The value of n, which stands on weights and constants alone, as a weight of its own: not computed until it is
 * read. */
const node *g_known(graph *g, const node *n, const char *label);
const node *g_const(graph *g, const char *label, const type *t, const void *data); /* copies */
const node *g_scalar(graph *g, dtype d, double v);                                 /* rank 0 */
const node *g_ints(graph *g, int n, const int64_t *v);                             /* i64[n] */
const node *g_call(graph *g, const char *call, int n, const node *const *in);      /* "conv strides=[2,2]" */
/* Attributes by name */
const node *g_make(graph *g, const op *o, int n, const node *const *in, const attr *a, int n_attr);
/* The call of old, of which all else stays, over other operands */
const node *g_again(graph *g, const node *old, int n, const node *const *in);
const node *g_call1(graph *g, const char *call, const node *a);
const node *g_call2(graph *g, const char *call, const node *a, const node *b);
const node *g_call3(graph *g, const char *call, const node *a, const node *b, const node *c);
const node *g_callf(graph *g, int n, const node *const *in, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Marks n as output `index` of an operation whose output 0 is origin. */
const node *g_output(graph *g, const node *n, const node *origin, int index);
/* Gives n a name if it has none: for schemas and reports, no part of its identity. */
void g_label(graph *g, const node *n, const char *label);
void g_name_axes(graph *g, const node *n, const char **axes);
bool g_axes_follow(graph *g, node *draft); /* from those of its operands. False, with the reason: two meet */
void g_label_new(graph *g, int first, const char *label); /* all from id `first` on that have none */
/* All nodes from id `first` on belong to a backward pass. */
void g_back(graph *g, int first);
void g_is_back(const graph *g, bool *out); /* by id: it does, or depends on one that does */
/* Records a recipe's expansion. */
void g_group(graph *g, const group *q);
/* A group of graph `from` among the first n nodes there, whose nodes were made again as now[id] (NULL: was not), if
 * they came out as the same number of nodes. */
void g_group_again(graph *g, const graph *from, const group *q, int n, const node *const *now);
/* out[i]: root[i] with every from[k] replaced by to[k], of the same type; what does not depend on any is shared. False,
 * with the reason in g, when that cannot be. */
bool g_replace(graph *g, int n, const node *const *root, int n_pair, const node *const *from, const node *const *to,
               const node **out);
/* The same with now[id], for each of the g->n nodes that there are, standing for the node where it is not NULL; then
 * now holds what stands for each that the roots need. */
bool g_remake(graph *g, int n, const node *const *root, const node **now);
/* The same with every node passed through f once its operands have been: now is old over what they became, and what f
 * gives, of the same type, stands for it; NULL: with the reason in g. */
typedef const node *rewriting(void *user, const node *old, const node *now);
bool g_rewrite(graph *g, int n, const node *const *root, rewriting *f, void *user, const node **out);
/* The roots in another graph, which then borrows what leaves and attributes of the first one have. now: by id of it,
 * NULL or what stands for a node there already; then what stands for each that the roots need. */
bool g_copy(graph *to, const graph *from, int n, const node *const *root, const node **now);
/* A number that no other call of this graph has, 0 and small ones aside, which people write. */
int64_t g_own(graph *g);
/* Open extents (-1), of inputs, weights, and what pointwise operations and products make of them: a use says them, see
 * open.c. Of the call that n is a draft of operands are closed, or may stay open; else g->err says why not. */
bool node_is_open(const node *n);
void g_open(graph *g, const node *n); /* n, which is new, is open */
bool g_close_all(graph *g, const node *n);
bool g_close(graph *g, const node *n, const int64_t *dim, const char *by); /* some of dim may be open still */
bool g_find_type(graph *g, node *draft, err *e);                           /* of one that is complete otherwise */
void g_tell_closed(graph *g, const node *n); /* of a draft that failed: what other calls said, as a hint */
bool g_none_open(graph *g, const char *what, int n, const node *const *list);
/* Whether all are nodes of g with all their extents, and not of a trip that is over; NULL counts as one. False: g->err
 * says which is not, and what was to be done with it. */
bool g_holds(graph *g, const char *what, int n, const node *const *list);
bool g_has(graph *g, const char *what, int n, const node *const *list); /* the same, but extents may be open */
bool g_all(graph *g, const char *what, int n, const node *const *list); /* the same as g_holds, but none is NULL */
/* What is no tensor: given is NULL where a caller of tessera.h left it out. */
bool g_given(graph *g, const char *what, const void *given);
const node *g_fail(graph *g, ts_code code, const char *fmt, ...) __attribute__((format(printf, 3, 4))); /* NULL */
/* Fails with "what is f32[2], expected f32[3]"; false */
bool g_differs(graph *g, const char *what, const type *is, const type *wanted);

const attr *node_attr(const node *n, const char *name); /* MUST exist in the op's specification */
int64_t node_int(const node *n, const char *name);
double node_real(const node *n, const char *name);
bool node_is_leaf(const node *n);
bool node_is_weight(const node *n);                        /* a leaf that no run brings: a weight or a constant */
bool g_defn(const node *n, arena *mem, defn *out, err *e); /* not for leaves */
/* The same with calls of functions of the graph as such, for derivatives: nothing can be computed from it. */
bool g_defn_calls(const node *n, arena *mem, defn *out, err *e);

/* Operations on reals that computing n takes, a scan all its trips; a product with its addition counts as two. */
double node_flops(const node *n);
/* Points that computing n walks: those of its own axes and those it folds away, of a scan in all trips */
double node_points(const node *n);

const group *g_group_of(const graph *g, const node *n);        /* the least recipe that n was made for; NULL: none */
int g_reach(int n, const node *const *root, const node **out); /* all nodes needed, by id; out may be NULL to count */
const node **g_reached_make(int n, const node *const *root, int *count); /* these, for free() */
void g_print(text *t, int n, const node *const *root);
bool g_parse(graph *g, const char *source, int max, const node **root, int *n, err *e);
void g_hash(int n, const node *const *root, char hex[65]);
enum { VALUE_WORK = 1 << 24 };        /* g->most_work where nobody says another one */
bool g_check(const graph *g, err *e); /* every invariant stated here, for tests */
