/* forest.h - the trees that an operator of ONNX lists node by node, checked, laid out for op tree_walk: each test is
 * "x[feature] <= split", and the two nodes behind one stand side by side. All arrays are the graph's. */
#pragma once
#include "graph/ir/rule.h"

/* As nodes_modes of TreeEnsemble has them, and leaves. */
typedef enum branch { BRANCH_LEQ, BRANCH_LT, BRANCH_GTE, BRANCH_GT, BRANCH_EQ, BRANCH_NEQ, BRANCH_MEMBER, LEAF } branch;

typedef struct tree_node { /* a node as listed */
    branch mode;
    bool missing, reached;                      /* missing: NaN goes on as if the test held */
    int feature, then, otherwise, first, count; /* then, otherwise: entries; first, count: of member or of weight */
    double split;
} tree_node;

typedef struct leaf_weight {
    int entry, output;
    double value;
} leaf_weight;

typedef struct forest {
    const onnx_call *c;
    int n_entry, n_tree, n_weight, n_target, features;
    tree_node *entry;
    int *root;           /* entries */
    double *member;      /* of all sets, each ascending */
    leaf_weight *weight; /* those of a leaf one after the other */
    dtype dtype;         /* in which features are compared, f32 or f64 */
} forest;

/* The lists of the operators before TreeEnsemble: `of` begins the names of weights, "target_" or "class_". */
bool forest_read_lists(forest *f, const char *of, err *e);
bool forest_read(forest *f, err *e); /* TreeEnsemble's */

typedef struct forest_layout {
    int64_t n; /* slots; 0 is a leaf of none */
    int depth, bits;
    bool doubled; /* a second set of columns, in which NaN is below everything */
    double *split;
    int64_t *word, *root; /* root: a slot of each tree */
    int *leaf;            /* the entry, of slots that are a leaf; else -1 */
} forest_layout;
bool forest_lay(forest *f, forest_layout *out, err *e);

/* A list of numbers: attribute `name`, or a tensor under that name or with "_as_tensor" behind. None: n is 0. */
bool forest_reals(const onnx_call *c, const char *name, const double **out, int *n, err *e);
bool forest_ints(const onnx_call *c, const char *name, const int64_t **out, int *n, err *e);
