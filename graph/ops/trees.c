/* trees.c - ensembles of decision trees. All trees are walked at once, for all rows: op tree_walk is a fold over the
 * levels, whose state is the node. A leaf leads to itself, so trees of fewer levels wait there. */
#include "graph/ops/forest.h"
#include "graph/ops/scores.h"

#include <math.h>
#include <string.h>

/* ---- helpers ---- */
typedef struct aggregate { /* what is made of the leaves that the trees of a output reach */
    const char *fold;
    double none; /* of a leaf without a weight */
    bool average;
} aggregate;
static const aggregate sums = {"add", 0, false}, averages = {"add", 0, true}, least = {"min", INFINITY, false},
                       largest = {"max", -INFINITY, false};

typedef struct walk { /* of a call: the forest as constants */
    graph *g;
    forest f;
    forest_layout l;
    const node *x, *split, *word; /* [row, column], [slot], [slot] */
} walk;

static const node *numbers(graph *g, int64_t n, const int64_t *v)
{
    bool small = true;
    for (int64_t i = 0; i < n; i++)
        small = small && v[i] >= INT32_MIN && v[i] <= INT32_MAX;
    const type t = {.dtype = small ? TS_I32 : TS_I64, .rank = 1, .dim = {n}};
    int32_t *narrow = arena_array(&g->mem, (size_t)n, sizeof *narrow);
    for (int64_t i = 0; small && i < n; i++)
        narrow[i] = (int32_t)v[i];
    return g_weight(g, "", &t, small ? (const void *)narrow : v);
}

static bool walk_open(walk *w, const onnx_call *c, err *e)
{
    graph *g = w->g = c->g;
    if (!forest_lay(&w->f, &w->l, e))
        return false;
    if (w->l.doubled) { /* NaN stays, or lies below all */
        const node *low = g_formula(g, 1, &w->x, "select(isnan(a),-inf,a)");
        w->x = g_call2(g, "concat axis=1", w->x, low);
    }
    w->split = scores_table(g, w->f.dtype, w->l.n, 0, w->l.split);
    w->word = numbers(g, w->l.n, w->l.word);
    return w->x && w->split && w->word;
}

/* What `value`, [slot], has of the leaf that each row reaches in each of n trees: [tree, row] */
static const node *walked(const walk *w, int64_t n, const int64_t *root, const node *value)
{
    int64_t *start = arena_joined(&w->g->mem, root, (int)n, NULL, 0, sizeof *start);
    const node *in[] = {w->x, w->split, w->word, numbers(w->g, n, start), value};
    if (in[3] && in[3]->type.dtype != w->word->type.dtype)
        in[3] = g_cast(w->g, in[3], w->word->type.dtype);
    return g_callf(w->g, 5, in, "tree_walk depth=%d bits=%d", w->l.depth, w->l.bits);
}

static double combined(const aggregate *a, double x, double y)
{
    return a == &least ? fmin(x, y) : a == &largest ? fmax(x, y) : x + y;
}

/* The output of all weights of each tree, if it has only one; else -1 for all. */
static bool targets_of_trees(const walk *w, int *output)
{
    const int64_t n = w->l.n;
    for (int t = 0; t < w->f.n_tree; t++) {
        output[t] = -1;
        for (int64_t i = w->l.root[t]; i < (t + 1 < w->f.n_tree ? w->l.root[t + 1] : n); i++) {
            const tree_node *at = w->l.leaf[i] < 0 ? NULL : &w->f.entry[w->l.leaf[i]];
            for (int k = 0; at && k < at->count; k++) {
                const int own = w->f.weight[at->first + k].output;
                if (output[t] >= 0 && output[t] != own)
                    return false;
                output[t] = own;
            }
        }
        output[t] = output[t] < 0 ? 0 : output[t];
    }
    return true;
}

/* Each tree adds to one output: those of a output side by side, as many of each, slot 0 for those that are missing.
 * y [row, output] */
static const node *by_target(const walk *w, const aggregate *a, const double *weight, const int *output)
{
    graph *g = w->g;
    const int n = w->f.n_target;
    int *have = arena_array(&g->mem, (size_t)n, sizeof *have), most = 1;
    for (int t = 0; t < w->f.n_tree; t++)
        most = ++have[output[t]] > most ? have[output[t]] : most;
    int64_t *root = arena_array(&g->mem, (size_t)n * (size_t)most, sizeof *root);
    memset(have, 0, (size_t)n * sizeof *have);
    for (int t = 0; t < w->f.n_tree; t++)
        root[(int64_t)output[t] * most + have[output[t]]++] = w->l.root[t];
    double *value = arena_array(&g->mem, (size_t)w->l.n, sizeof *value);
    for (int64_t i = 0; i < w->l.n; i++) {
        const tree_node *at = w->l.leaf[i] < 0 ? NULL : &w->f.entry[w->l.leaf[i]];
        value[i] = a->none;
        for (int k = 0; at && k < at->count; k++)
            value[i] = combined(a, value[i], weight[at->first + k]);
    }
    const node *v = walked(w, (int64_t)n * most, root, scores_table(g, w->f.dtype, w->l.n, 0, value));
    const int64_t extent[] = {w->x->type.dim[0], n, most};
    return g_element(g, 1, &v, &(spelling){2, 1, extent, a->fold, arena_format(&g->mem, "a[i1*%d+i2,i0]", most)});
}

/* Leaves have rows of weights for all outputs; row 0 is of those without. y [row, output] */
static const node *by_rows(const walk *w, const aggregate *a, const double *weight, err *e)
{
    graph *g = w->g;
    const int64_t outputs = w->f.n_target;
    int64_t rows = 1, *row = arena_array(&g->mem, (size_t)w->l.n, sizeof *row), all;
    for (int64_t i = 0; i < w->l.n; i++)
        row[i] = w->l.leaf[i] >= 0 && w->f.entry[w->l.leaf[i]].count ? rows++ : 0;
    if (!int_mul(rows, outputs, &all) || all > 1 << 25)
        return err_set(e, TS_UNSUPPORTED, "%lld leaves with weights of %lld outputs, at most 2^25 numbers expected",
                       (long long)rows, (long long)outputs),
               NULL;
    double *value = arena_array(&g->mem, (size_t)all, sizeof *value);
    for (int64_t i = 0; i < all; i++)
        value[i] = a->none;
    for (int64_t i = 0; i < w->l.n; i++) {
        const tree_node *at = row[i] ? &w->f.entry[w->l.leaf[i]] : NULL;
        for (int k = 0; at && k < at->count; k++) {
            double *to = &value[row[i] * outputs + w->f.weight[at->first + k].output];
            *to = combined(a, *to, weight[at->first + k]);
        }
    }
    const node *v = walked(w, w->f.n_tree, w->l.root, numbers(g, w->l.n, row)); /* [tree, row] */
    const int64_t extent[] = {w->x->type.dim[0], outputs, w->f.n_tree};
    return g_element(g, NODES(v, scores_table(g, w->f.dtype, rows, outputs, value)),
                     &(spelling){2, 1, extent, a->fold, "b[i64(a[i2,i0]),i1]"});
}

/* y[row, output] = the aggregate over trees of what the leaves say; weight: of each of the forest's, NULL: its own */
static const node *aggregated(const walk *w, const aggregate *a, const double *weight, err *e)
{
    graph *g = w->g;
    int *output = arena_array(&g->mem, (size_t)w->f.n_tree, sizeof *output);
    double *own = arena_array(&g->mem, (size_t)w->f.n_weight, sizeof *own);
    for (int i = 0; i < w->f.n_weight; i++)
        own[i] = weight ? weight[i] : w->f.weight[i].value;
    const bool apart = targets_of_trees(w, output);
    int64_t most = 0, *have = arena_array(&g->mem, (size_t)w->f.n_target, sizeof *have);
    for (int t = 0; apart && t < w->f.n_tree; t++)
        most = ++have[output[t]] > most ? have[output[t]] : most;
    const bool even = apart && most * w->f.n_target <= 2 * (int64_t)w->f.n_tree + 64;
    const node *y = even ? by_target(w, a, own, output) : by_rows(w, a, own, e);
    return y && a->average ? g_scaled(g, y, 1.0 / w->f.n_tree) : y;
}

/* ---- ONNX ---- */
static bool word_among(const onnx_call *c, const char *name, const char *const *words, int *which, err *e)
{
    const char *s = onnx_word(c, name, words[0]);
    for (*which = 0; words[*which]; ++*which)
        if (!strcmp(words[*which], s))
            return true;
    return err_set(e, TS_BAD_INPUT, "%s is \"%.40s\", %s or another of its words expected", name, s, words[0]);
}

static const node *with_base(const onnx_call *c, const node *y, int64_t n, err *e)
{
    const double *base;
    int have;
    if (!y || !forest_reals(c, "base_values", &base, &have, e) || have == 0)
        return err_is(e) ? NULL : y;
    if (have != n)
        return err_set(e, TS_BAD_INPUT, "base_values has %d numbers, %lld expected: one for each output", have,
                       (long long)n),
               NULL;
    return g_call2(c->g, "add", y, scores_table(c->g, y->type.dtype, n, 0, base));
}

static bool begin(const onnx_call *c, walk *w, err *e)
{
    *w = (walk){.f = {.c = c}, .x = scores_input(c, true, e)};
    if (!w->x)
        return false;
    w->f.dtype = w->x->type.dtype;
    if (w->x->type.dim[1] < 1 || w->x->type.dim[1] > 1 << 30)
        return operands_refuse(1, c->in, e, "one feature or more");
    w->f.features = (int)w->x->type.dim[1];
    return true;
}

static const aggregate *const aggregates[] = {&sums, &averages, &least, &largest};

/* The scores with what stands around their aggregate; a least or largest of nothing is 0. */
static const node *regressed(const onnx_call *c, walk *w, int how, err *e)
{
    const aggregate *a = aggregates[how];
    const node *y = walk_open(w, c, e) ? aggregated(w, a, NULL, e) : NULL;
    if (y && isinf(a->none))
        y = g_formula(c->g, 1, &y, a == &least ? "select(a==inf,0,a)" : "select(a==-inf,0,a)");
    return scores_transformed(c, with_base(c, y, w->f.n_target, e), e);
}

static bool targets_read(const onnx_call *c, walk *w, err *e)
{
    const int64_t n = onnx_int(c, "n_targets", 1);
    if (n < 1 || n > 1 << 20)
        return err_set(e, TS_BAD_INPUT, "n_targets is %lld, 1 to 2^20 expected", (long long)n);
    return w->f.n_target = (int)n, true;
}

static bool adapt_regressor(const onnx_call *c, const node **out, err *e)
{
    static const char *const words[] = {"SUM", "AVERAGE", "MIN", "MAX", NULL};
    walk w;
    int how;
    if (!word_among(c, "aggregate_function", words, &how, e) || !begin(c, &w, e) || !targets_read(c, &w, e) ||
        !forest_read_lists(&w.f, "target_", e))
        return false;
    const node *y = regressed(c, &w, how, e);
    return !err_is(e) && onnx_give(c, out, y ? g_cast(c->g, y, TS_F32) : NULL, e);
}

static bool adapt_ensemble(const onnx_call *c, const node **out, err *e)
{
    static const int order[] = {1, 0, 2, 3}; /* AVERAGE, SUM, MIN, MAX */
    const int64_t how = onnx_int(c, "aggregate_function", 1);
    walk w;
    if (how < 0 || how > 3)
        return err_set(e, TS_BAD_INPUT, "aggregate_function is %lld, 0 to 3 expected", (long long)how);
    if (!begin(c, &w, e) || !targets_read(c, &w, e) || !forest_read(&w.f, e))
        return false;
    const node *y = regressed(c, &w, order[how], e);
    return !err_is(e) && onnx_give(c, out, y ? g_cast(c->g, y, c->in[0]->type.dtype) : NULL, e);
}

typedef struct columns { /* which classes the leaves have weights of */
    bool some[2], all_positive;
    int n;
} columns;

static columns columns_of(const forest *f)
{
    columns k = {.all_positive = true};
    for (int i = 0; i < f->n_weight; i++) {
        k.all_positive = k.all_positive && f->weight[i].value >= 0;
        if (f->weight[i].output < 2)
            k.some[f->weight[i].output] = true;
    }
    k.n = k.some[0] + k.some[1];
    return k;
}

static const node *column(graph *g, const node *s, int64_t i) /* [row, 1] */
{
    return g_part(g, s, 1, i, 1);
}

/* Of two classes; how many base values there are decides, as runtimes have it, what the columns are. */
static const node *two_classes(const onnx_call *c, const walk *w, const node *s, const node **which, err *e)
{
    graph *g = c->g;
    const columns k = columns_of(&w->f);
    const double *base;
    int n;
    if (!forest_reals(c, "base_values", &base, &n, e))
        return NULL;
    if (n > 2)
        return err_set(e, TS_BAD_INPUT, "base_values has %d numbers of 2 classes, at most 2 expected", n), NULL;
    const double level = k.n == 1 && k.all_positive ? 0.5 : 0;
    const double shift[] = {n && k.some[0] ? base[0] : 0, 0}; /* a class without weights stays at 0 */
    if (n == 2 && k.some[1]) {                                /* the second is the first's, moved */
        const node *one = g_call2(g, "add", column(g, s, 0), g_scalar_like(g, s, base[1]));
        *which = scores_above(g, one, level);
        return scores_transformed(c, scores_pair(g, one, k.some[0] ? "-a" : "a*0"), e);
    }
    s = n ? g_call2(g, "add", s, scores_table(g, s->type.dtype, 2, 0, shift)) : s;
    const node *deciding = column(g, s, k.some[1]);
    *which = scores_above(g, deciding, level);
    if (n < 2 && !k.some[1])
        return scores_are(c, "LOGISTIC", e) ? scores_odds(g, deciding)
                                            : scores_pair(g, deciding, k.all_positive ? "1-a" : "-a");
    return scores_transformed(c, s, e);
}

/* The class of the largest score among those that a leaf has a weight of */
static const node *many_classes(const onnx_call *c, const walk *w, const node *s, const node **which, err *e)
{
    graph *g = c->g;
    const attr *base = onnx_attr(c, "base_values");
    const node *y = with_base(c, s, w->f.n_target, e), *among = y;
    if (y && !(base && base->n) && !onnx_attr(c, "base_values_as_tensor")) {
        double *one = arena_array(&g->mem, (size_t)w->f.n_weight, sizeof *one);
        for (int i = 0; i < w->f.n_weight; i++)
            one[i] = 1;
        among = aggregated(w, &largest, one, e);
        among = among ? g_formula(g, NODES(y, among), "select(b>0,a,-inf)") : NULL;
    }
    *which = among ? g_call1(g, "argmax axis=1", among) : NULL;
    return scores_transformed(c, y, e);
}

static bool adapt_classifier(const onnx_call *c, const node **out, err *e)
{
    class_labels labels;
    walk w;
    const node *which = NULL;
    if (!class_labels_read(c, "classlabels_int64s", &labels, e) || !begin(c, &w, e))
        return false;
    w.f.n_target = labels.n;
    if (!forest_read_lists(&w.f, "class_", e) || !walk_open(&w, c, e))
        return false;
    const node *s = aggregated(&w, &sums, NULL, e);
    if (s)
        s = labels.n == 2 ? two_classes(c, &w, s, &which, e) : many_classes(c, &w, s, &which, e);
    s = s ? g_cast(c->g, s, TS_F32) : NULL;
    return !err_is(e) && class_labels_give(c, out, &labels, which, s);
}

/* ---- shape ---- */
static bool walk_shape(const node *n, type *out, err *e)
{
    const type *x = &n->in[0]->type, *split = &n->in[1]->type, *word = &n->in[2]->type, *root = &n->in[3]->type,
               *value = &n->in[4]->type;
    const int64_t depth = node_int(n, "depth"), bits = node_int(n, "bits");
    if (x->rank != 2 || split->rank != 1 || word->rank != 1 || root->rank != 1 || value->rank != 1 ||
        x->dtype != split->dtype || dtype_class(x->dtype) != D_REAL || word->dtype != root->dtype ||
        dtype_class(word->dtype) != D_WHOLE || split->dim[0] != word->dim[0] || split->dim[0] != value->dim[0])
        return operands_refuse(5, n->in, e,
                               "x [row, feature] and splits [node] of one real dtype, words [node] and roots [tree] of "
                               "one whole dtype, and values [node]");
    if (depth < 0 || bits < 0 || bits > 30)
        return err_set(e, TS_BAD_INPUT, "depth %lld, bits %lld; 0 or more, and 0 to 30 expected", (long long)depth,
                       (long long)bits);
    *out = (type){.dtype = value->dtype, .rank = 2, .dim = {root->dim[0], x->dim[0]}};
    return true;
}

/* ---- body ---- */
static const expr *checked(arena *mem, const expr *place, int64_t extent)
{
    return x2(mem, "at", x_cast(mem, TS_I64, place), x_whole(mem, extent));
}

/* at = root[tree]; of each level: w = word[at], at = (w >> bits) + !(x[row, w & mask] <= split[at]) */
static const expr *walk_body(defn *d)
{
    arena *mem = d->mem;
    const type *x = &d->node->in[0]->type;
    const dtype own = d->node->in[2]->type.dtype;
    const int64_t bits = node_int(d->node, "bits");
    const int level = defn_fold(d, node_int(d->node, "depth"));
    const expr *state = x_state(mem, own, 0), *at = checked(mem, state, d->node->in[1]->type.dim[0]);
    const expr *word = defn_at(d, 2, &at), *mask = x_whole(mem, (INT64_C(1) << bits) - 1);
    const expr *sub[] = {x_axis(mem, 1), checked(mem, x2(mem, "bitand", word, mask), x->dim[1])};
    const expr *step = x_said(mem, "shr(word, bits) + (x <= split ? 0 : 1)", "word", word, "bits", x_whole(mem, bits),
                              "x", defn_at(d, 0, sub), "split", defn_at(d, 1, &at), NULL);
    const expr *tree = x_axis(mem, 0), *start = defn_at(d, 3, &tree);
    return x_scan(mem, 1u << level, 0, 1, &start, &step, defn_at(d, 4, &at));
}

/* ---- records ---- */
#define TREE_NODES                                                                                                 \
    "nodes_falsenodeids nodes_featureids nodes_hitrates nodes_hitrates_as_tensor nodes_missing_value_tracks_true " \
    "nodes_modes nodes_nodeids nodes_treeids nodes_truenodeids nodes_values nodes_values_as_tensor post_transform"
#define LEAF_CASE                                                                                   \
    "nodes_treeids=[0] nodes_nodeids=[0] nodes_featureids=[0] nodes_values=[0.0] nodes_modes=LEAF " \
    "nodes_truenodeids=[0] "                                                                        \
    "nodes_falsenodeids=[0]"
const op ops_trees[] = {
    BODY("tree_walk a b c d e depth:i bits:i -> t r", walk_body, "tree_walk(*x, depth, bits)", NULL,
         "f32[5,2] f32[9] u8[9]<8 u8[3]<9 f32[9] depth=2 bits=1\nf64[70,3] f64[9] u16[9]<8 u16[2]<9 i32[9] depth=3 "
         "bits=1\nf32[1,2] f32[9] u8[9]<8 u8[70]<9 f32[9] depth=4 bits=1\nf32[3,2] f32[9] u8[9]<8 u8[3]<9 f32[9] "
         "depth=0 bits=1\nf32[1,2] f32[9] u8[9]<8 u8[1]<9 i64[9] depth=2 bits=1\nf32[0,2] f32[9] u8[9]<8 u8[3]<9 "
         "f32[9] depth=2 bits=1",
         "What `e` has of the node that rows [r, feature] reach in each tree after `depth` tests: words are a node's "
         "number and, in the low `bits`, a feature; it comes next where the feature is at most the split, else the "
         "one behind it.",
         .adapted = ADAPTED({"ai.onnx.ml.TreeEnsembleRegressor 1 n 1 aggregate_function base_values "
                             "base_values_as_tensor n_targets " TREE_NODES
                             " target_ids target_nodeids target_treeids target_weights target_weights_as_tensor",
                             adapt_regressor},
                            {"ai.onnx.ml.TreeEnsembleClassifier 1 n 1 >2 base_values base_values_as_tensor class_ids "
                             "class_nodeids class_treeids class_weights class_weights_as_tensor classlabels_int64s "
                             "classlabels_strings " TREE_NODES,
                             adapt_classifier},
                            {"ai.onnx.ml.TreeEnsemble 5 f 1 aggregate_function leaf_targetids leaf_weights "
                             "membership_values n_targets nodes_falseleafs nodes_falsenodeids nodes_featureids "
                             "nodes_hitrates nodes_missing_value_tracks_true nodes_modes nodes_splits nodes_trueleafs "
                             "nodes_truenodeids post_transform tree_roots",
                             adapt_ensemble}),
         .onnx_cases =
             "ai.onnx.ml.TreeEnsembleRegressor f32[3,2] " LEAF_CASE " target_treeids=[0] target_nodeids=[0] "
             "target_ids=[0] target_weights=[1.0]\nai.onnx.ml.TreeEnsembleClassifier f32[3,2] " LEAF_CASE
             " class_treeids=[0] class_nodeids=[0] class_ids=[0] class_weights=[1.0] classlabels_int64s=[0,1]\n"
             "ai.onnx.ml.TreeEnsemble f32[3,2] nodes_featureids=[0] nodes_splits=[0.5] nodes_modes=[0.0] "
             "nodes_truenodeids=[0] nodes_falsenodeids=[1] nodes_trueleafs=[1] nodes_falseleafs=[1] tree_roots=[0] "
             "leaf_weights=[1.0,2.0] leaf_targetids=[0,0]",
         .shape = walk_shape),
    {0},
};
