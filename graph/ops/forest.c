/* forest.c - reads trees as ONNX lists them, and lays them out. A test of a kind other than "<=" becomes tests of that
 * kind: x < s is x <= the number below s; x >= s turns the branches around; x == s are two tests, a set of numbers is
 * searched by halves. */
#include "graph/ops/forest.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 1 << 14 }; /* levels of a tree */

static const double *reals_of_tensor(const onnx_call *c, const ts_array *t, int *n)
{
    *n = (int)ts_array_count(t);
    double *v = arena_array(&c->g->mem, (size_t)*n, sizeof *v);
    for (int i = 0; i < *n; i++)
        v[i] = ts_array_at(t, i);
    return v;
}

bool forest_reals(const onnx_call *c, const char *name, const double **out, int *n, err *e)
{
    const attr *a = onnx_attr(c, name);
    a = a ? a : onnx_attr(c, arena_format(&c->g->mem, "%s_as_tensor", name));
    *out = NULL, *n = 0;
    if (!a)
        return true;
    const ts_array *t = c->tensor[a - c->attr];
    if (a->kind == 'F')
        return *out = a->reals, *n = a->n, true;
    if (a->kind == 't' && ts_array_count(t) <= INT_MAX)
        return *out = reals_of_tensor(c, t, n), true;
    return (a->kind == 'I' && a->n == 0) || err_set(e, TS_BAD_INPUT, "attribute %s is no list of reals", a->name);
}

bool forest_ints(const onnx_call *c, const char *name, const int64_t **out, int *n, err *e)
{
    const attr *a = onnx_attr(c, name);
    *out = NULL, *n = 0;
    if (!a || (a->kind == 'F' && a->n == 0))
        return true;
    return a->kind == 'I' ? (*out = a->ints, *n = a->n, true)
                          : err_set(e, TS_BAD_INPUT, "attribute %s is no list of integers", name);
}

/* n numbers, each from least to most - 1 */
static bool numbers(const forest *f, const char *name, int n, int64_t most, const int64_t **out, err *e)
{
    int have;
    if (!forest_ints(f->c, name, out, &have, e))
        return false;
    if (have != n)
        return err_set(e, TS_BAD_INPUT, "attribute %s has %d numbers, %d expected: one for each of its kind", name,
                       have, n);
    for (int i = 0; i < n; i++)
        if ((*out)[i] < 0 || (*out)[i] >= most)
            return err_set(e, TS_BAD_INPUT, "%s[%d] is %lld, 0 to %lld expected", name, i, (long long)(*out)[i],
                           (long long)most - 1);
    return true;
}

static bool reals_like(const forest *f, const char *name, int n, const double **out, err *e)
{
    int have;
    return forest_reals(f->c, name, out, &have, e) &&
           (have == n || err_set(e, TS_BAD_INPUT, "attribute %s has %d numbers, %d expected: one for each of its kind",
                                 name, have, n));
}

/* Which branch NaN takes: by default as if it were larger than the split. The attribute may be missing. */
static bool read_missing(forest *f, int n, err *e)
{
    const int64_t *v;
    int have;
    if (!forest_ints(f->c, "nodes_missing_value_tracks_true", &v, &have, e) ||
        (have && !numbers(f, "nodes_missing_value_tracks_true", n, 2, &v, e)))
        return false;
    for (int i = 0; i < have; i++)
        f->entry[i].missing = v[i];
    return true;
}

static bool read_features(forest *f, int n, err *e)
{
    const int64_t *v;
    if (!numbers(f, "nodes_featureids", n, INT_MAX, &v, e))
        return false;
    for (int i = 0; i < n; i++) {
        if (v[i] >= f->features && f->entry[i].mode != LEAF) {
            err_set(e, TS_BAD_INPUT, "nodes_featureids[%d] is %lld, the input has %d features", i, (long long)v[i],
                    f->features);
            return err_hint(e, "give as many columns as the trees were made for");
        }
        f->entry[i].feature = (int)v[i];
    }
    return true;
}

typedef struct key { /* of a node: its tree and its number there */
    uint64_t id;
    int entry;
} key;

static int by_id(const void *a, const void *b)
{
    const key *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

static key key_of(int64_t tree, int64_t number)
{
    return (key){.id = (uint64_t)tree << 32 | (uint64_t)number};
}

static int find(const key *all, int n, int64_t tree, int64_t number) /* the entry, or -1 */
{
    const key one = key_of(tree, number), *at = bsearch(&one, all, (size_t)n, sizeof *all, by_id);
    return at ? at->entry : -1;
}

static bool read_modes(forest *f, int n, err *e)
{
    static const char *const words[] = {"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE", "BRANCH_GT",
                                        "BRANCH_EQ",  "BRANCH_NEQ", "LEAF"};
    const attr *a = onnx_attr(f->c, "nodes_modes");
    const int have = !a ? 0 : a->kind == 'S' ? a->n : a->kind == 's';
    if (have != n)
        return err_set(e, TS_BAD_INPUT, "nodes_modes has %d texts, %d expected: one for each node", have, n);
    const char *s = a->s;
    for (int i = 0; i < n; i++) {
        const size_t length = strcspn(s, "\n");
        int k = 0;
        while (k < COUNT(words) && (strlen(words[k]) != length || memcmp(words[k], s, length) != 0))
            k++;
        if (k == COUNT(words))
            return err_set(e, TS_BAD_INPUT,
                           "nodes_modes[%d] is \"%.*s\", BRANCH_LEQ, _LT, _GTE, _GT, _EQ, _NEQ or LEAF "
                           "expected",
                           i, length < 40 ? (int)length : 40, s);
        f->entry[i].mode = k == COUNT(words) - 1 ? LEAF : (branch)k;
        s += length + (s[length] != 0);
    }
    return true;
}

/* Both nodes behind each test, by their numbers in its tree. The first node listed of a tree is its root. */
static bool link_lists(forest *f, const int64_t *tree, const key *all, err *e)
{
    const int n = f->n_entry;
    const int64_t *then, *otherwise;
    if (!numbers(f, "nodes_truenodeids", n, INT64_C(1) << 31, &then, e) ||
        !numbers(f, "nodes_falsenodeids", n, INT64_C(1) << 31, &otherwise, e))
        return false;
    f->root = arena_array(&f->c->g->mem, (size_t)n, sizeof *f->root);
    for (int i = 0; i < n; i++) {
        tree_node *at = &f->entry[i];
        if (at->mode == LEAF)
            continue;
        at->then = find(all, n, tree[i], then[i]), at->otherwise = find(all, n, tree[i], otherwise[i]);
        if (at->then < 0 || at->otherwise < 0)
            return err_set(e, TS_BAD_INPUT, "%s[%d] is %lld, and tree %lld has no such node",
                           at->then < 0 ? "nodes_truenodeids" : "nodes_falsenodeids", i,
                           (long long)(at->then < 0 ? then : otherwise)[i], (long long)tree[i]);
    }
    for (int i = 0; i < n; i++) /* keys are in the order of trees, then of numbers */
        if (i == 0 || all[i].id >> 32 != all[i - 1].id >> 32)
            f->root[f->n_tree++] = all[i].entry;
        else if (all[i].entry < f->root[f->n_tree - 1])
            f->root[f->n_tree - 1] = all[i].entry;
    return true;
}

static int by_entry(const void *a, const void *b)
{
    const leaf_weight *x = a, *y = b;
    return x->entry < y->entry ? -1 : x->entry > y->entry;
}

static void share_weights(forest *f) /* gives each leaf its own */
{
    if (f->n_weight > 1)
        qsort(f->weight, (size_t)f->n_weight, sizeof *f->weight, by_entry);
    for (int i = f->n_weight; i-- > 0;) {
        tree_node *at = &f->entry[f->weight[i].entry];
        at->first = i, at->count++;
    }
}

static bool read_weights(forest *f, const char *of, const key *all, err *e)
{
    const int64_t *tree, *number, *output;
    const double *value;
    int n;
    arena *mem = &f->c->g->mem;
    const char *trees = arena_format(mem, "%streeids", of), *nodes = arena_format(mem, "%snodeids", of);
    if (!forest_ints(f->c, trees, &tree, &n, e) || !numbers(f, trees, n, INT64_C(1) << 31, &tree, e) ||
        !numbers(f, nodes, n, INT64_C(1) << 31, &number, e) ||
        !numbers(f, arena_format(mem, "%sids", of), n, f->n_target, &output, e) ||
        !reals_like(f, arena_format(mem, "%sweights", of), n, &value, e))
        return false;
    f->weight = arena_array(mem, (size_t)n, sizeof *f->weight);
    for (int i = 0; i < n; i++) {
        const int at = find(all, f->n_entry, tree[i], number[i]);
        if (at < 0)
            return err_set(e, TS_BAD_INPUT, "%s[%d] is %lld, and tree %lld has no such node", nodes, i,
                           (long long)number[i], (long long)tree[i]);
        if (f->entry[at].mode == LEAF) /* some converters list zeros for branches */
            f->weight[f->n_weight++] = (leaf_weight){at, (int)output[i], value[i]};
    }
    share_weights(f);
    return true;
}

bool forest_read_lists(forest *f, const char *of, err *e)
{
    arena *mem = &f->c->g->mem;
    const int64_t *tree, *number;
    const double *split;
    int n;
    if (!forest_ints(f->c, "nodes_treeids", &tree, &n, e))
        return false;
    if (n == 0)
        return err_set(e, TS_BAD_INPUT, "nodes_treeids is empty, one tree at least expected");
    f->n_entry = n, f->entry = arena_array(mem, (size_t)n, sizeof *f->entry);
    key *all = arena_array(mem, (size_t)n, sizeof *all);
    if (!numbers(f, "nodes_treeids", n, INT64_C(1) << 31, &tree, e) ||
        !numbers(f, "nodes_nodeids", n, INT64_C(1) << 31, &number, e) || !read_modes(f, n, e) ||
        !read_features(f, n, e) || !reals_like(f, "nodes_values", n, &split, e) || !read_missing(f, n, e))
        return false;
    for (int i = 0; i < n; i++) {
        all[i] = key_of(tree[i], number[i]), all[i].entry = i;
        f->entry[i].split = split[i];
    }
    qsort(all, (size_t)n, sizeof *all, by_id);
    for (int i = 1; i < n; i++)
        if (all[i].id == all[i - 1].id)
            return err_set(e, TS_BAD_INPUT, "nodes_nodeids[%d]: tree %lld has node %lld twice", all[i].entry,
                           (long long)tree[all[i].entry], (long long)number[all[i].entry]);
    return link_lists(f, tree, all, e) && read_weights(f, of, all, e);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* NaN ends each set; they are of the nodes that test for one, in their order. */
static bool read_members(forest *f, int n, err *e)
{
    const double *v;
    int have, at = 0;
    if (!forest_reals(f->c, "membership_values", &v, &have, e))
        return false;
    f->member = arena_array(&f->c->g->mem, (size_t)have, sizeof *f->member);
    for (int i = 0; i < n; i++) {
        tree_node *one = &f->entry[i];
        if (one->mode != BRANCH_MEMBER)
            continue;
        one->first = at;
        for (; at < have && !isnan(v[at]); at++)
            f->member[at] = v[at];
        if (at == have)
            return err_set(e, TS_BAD_INPUT, "membership_values end before node %d has its set; NaN ends each", i);
        one->count = at++ - one->first;
        qsort(f->member + one->first, (size_t)one->count, sizeof *f->member, by_value);
    }
    return true;
}

static bool read_codes(forest *f, int n, err *e)
{
    const double *mode, *split;
    if (!reals_like(f, "nodes_modes", n, &mode, e) || !reals_like(f, "nodes_splits", n, &split, e))
        return false;
    for (int i = 0; i < n; i++) {
        if (mode[i] < 0 || mode[i] > BRANCH_MEMBER)
            return err_set(e, TS_BAD_INPUT, "nodes_modes[%d] is %g, 0 to %d expected", i, mode[i], BRANCH_MEMBER);
        f->entry[i].mode = (branch)mode[i], f->entry[i].split = split[i];
    }
    return read_members(f, n, e);
}

/* Leaves stand behind the nodes. */
static bool link_nodes(forest *f, int n, int leaves, err *e)
{
    static const char *const ids[] = {"nodes_truenodeids", "nodes_falsenodeids"}, *const leafs[] = {"nodes_trueleafs",
                                                                                                    "nodes_falseleafs"};
    for (int side = 0; side < 2; side++) {
        const int64_t *id, *ends;
        if (!numbers(f, ids[side], n, INT_MAX, &id, e) || !numbers(f, leafs[side], n, 2, &ends, e))
            return false;
        for (int i = 0; i < n; i++) {
            if (id[i] >= (ends[i] ? leaves : n))
                return err_set(e, TS_BAD_INPUT, "%s[%d] is %lld, and there are %d %s", ids[side], i, (long long)id[i],
                               ends[i] ? leaves : n, ends[i] ? "leaves" : "nodes");
            *(side ? &f->entry[i].otherwise : &f->entry[i].then) = (int)id[i] + (ends[i] ? n : 0);
        }
    }
    return true;
}

bool forest_read(forest *f, err *e)
{
    arena *mem = &f->c->g->mem;
    const int64_t *feature, *output, *root;
    const double *value;
    int n, leaves;
    if (!forest_ints(f->c, "nodes_featureids", &feature, &n, e) ||
        !forest_ints(f->c, "leaf_targetids", &output, &leaves, e) ||
        !forest_ints(f->c, "tree_roots", &root, &f->n_tree, e))
        return false;
    if (n == 0 || leaves == 0 || f->n_tree == 0 || n > INT_MAX - leaves)
        return err_set(e, TS_BAD_INPUT, "%d nodes, %d leaves and %d trees; one of each at least expected", n, leaves,
                       f->n_tree);
    f->n_entry = n + leaves, f->entry = arena_array(mem, (size_t)f->n_entry, sizeof *f->entry);
    f->root = arena_array(mem, (size_t)f->n_tree, sizeof *f->root);
    f->n_weight = leaves, f->weight = arena_array(mem, (size_t)leaves, sizeof *f->weight);
    for (int i = n; i < f->n_entry; i++)
        f->entry[i].mode = LEAF;
    if (!numbers(f, "leaf_targetids", leaves, f->n_target, &output, e) ||
        !numbers(f, "tree_roots", f->n_tree, n, &root, e) || !reals_like(f, "leaf_weights", leaves, &value, e) ||
        !read_codes(f, n, e) || !read_features(f, n, e) || !read_missing(f, n, e) || !link_nodes(f, n, leaves, e))
        return false;
    for (int i = 0; i < f->n_tree; i++)
        f->root[i] = (int)root[i];
    for (int i = 0; i < leaves; i++)
        f->weight[i] = (leaf_weight){n + i, (int)output[i], value[i]};
    share_weights(f);
    return true;
}

typedef struct waiting { /* an entry that goes into a slot */
    int entry, depth;
    int64_t slot;
} waiting;

typedef struct laying {
    forest *f;
    forest_layout *out;
    waiting *queue;
    int n_queue;
} laying;

/* The largest number of the dtype that is not above x, or below it; NaN, which nothing is below, where there is none.
 * Programs take denormal numbers as zero, so it is none of them. */
static double below(double x, bool strictly, dtype d)
{
    const double smallest = d == TS_F32 ? (double)FLT_MIN : DBL_MIN;
    double v = d == TS_F32 ? (double)(float)x : x;
    if (v > x || (strictly && v >= x))
        v = d == TS_F32 ? (double)nextafterf((float)v, -INFINITY) : nextafter(v, -INFINITY);
    if (strictly && v >= x)
        return NAN;
    return v == 0 || fabs(v) >= smallest || isnan(v) ? v : v < 0 ? -smallest : 0;
}

static int64_t two_slots(laying *l)
{
    l->out->n += 2;
    return l->out->n - 2;
}

/* At a slot where every test fails, the next one is behind `to`. */
static void put_way(laying *l, int64_t slot, int64_t to)
{
    l->out->split[slot] = NAN, l->out->word[slot] = (to - 1) * (INT64_C(1) << l->out->bits);
}

/* x[feature] <= split goes to the first of two slots, with NaN if `missing`. */
static void put_test(laying *l, int64_t slot, const tree_node *at, double split, int64_t pair, bool missing)
{
    const int64_t column = at->feature + (missing ? l->f->features : 0);
    l->out->split[slot] = split, l->out->word[slot] = pair * (INT64_C(1) << l->out->bits) + column;
}

static void push(laying *l, int which, int depth, int64_t slot)
{
    l->queue[l->n_queue++] = (waiting){which, depth, slot};
}

/* x == value: at least as small, and not smaller */
static void put_equal(laying *l, int64_t slot, const tree_node *at, double value, int64_t then, int64_t otherwise)
{
    const int64_t pair = two_slots(l), inner = two_slots(l);
    const bool exact = l->f->dtype == TS_F64 || value == (double)(float)value; /* else nothing is equal but missing */
    put_test(l, slot, at, below(value, false, l->f->dtype), pair, at->missing);
    put_test(l, pair, at, below(value, exact, l->f->dtype), inner, false);
    put_way(l, pair + 1, otherwise), put_way(l, inner, otherwise), put_way(l, inner + 1, then);
}

/* NaN, where it counts as a member, is below all: comparing for the smallest member lets it pass. */
static int put_set(laying *l, int64_t slot, const tree_node *at, const double *value, int n, const int64_t to[2])
{
    if (n == 1)
        return put_equal(l, slot, at, *value, to[0], to[1]), 3;
    const int64_t pair = two_slots(l);
    const int half = n / 2;
    put_test(l, slot, at, below(value[half - 1], false, l->f->dtype), pair, at->missing);
    const int a = put_set(l, pair, at, value, half, to), b = put_set(l, pair + 1, at, value + half, n - half, to);
    return 1 + (a > b ? a : b);
}

static void lay_set(laying *l, const waiting *w, const tree_node *at)
{
    const bool set = at->mode == BRANCH_MEMBER, unequal = at->mode == BRANCH_NEQ;
    const int64_t pair = two_slots(l), to[] = {pair, pair + 1};
    const double *value = set ? l->f->member + at->first : &at->split;
    const int n = set ? at->count : !isnan(at->split);
    tree_node one = *at;
    one.missing = at->missing && !unequal;
    bool turned = unequal;
    int levels = 1;
    if (n)
        levels = put_set(l, w->slot, &one, value, n, to);
    else /* what at most NaN passes */
        put_test(l, w->slot, at, one.missing ? INFINITY : NAN, pair, false), turned ^= one.missing;
    push(l, turned ? at->otherwise : at->then, w->depth + levels, pair);
    push(l, turned ? at->then : at->otherwise, w->depth + levels, pair + 1);
}

static void lay_test(laying *l, const waiting *w, const tree_node *at)
{
    const int64_t pair = two_slots(l);
    const bool strictly = at->mode == BRANCH_LT || at->mode == BRANCH_GTE;
    double split = below(at->split, strictly, l->f->dtype);
    bool turned = (at->mode == BRANCH_GTE || at->mode == BRANCH_GT) && !isnan(at->split);
    bool missing = at->missing != turned;
    if (isnan(split) && missing) /* what only NaN passes is what all else fails */
        turned = !turned, missing = false, split = INFINITY;
    put_test(l, w->slot, at, split, pair, missing);
    push(l, turned ? at->otherwise : at->then, w->depth + 1, pair);
    push(l, turned ? at->then : at->otherwise, w->depth + 1, pair + 1);
}

static bool lay_tree(laying *l, int tree, err *e)
{
    l->n_queue = 0, l->out->root[tree] = l->out->n;
    push(l, l->f->root[tree], 0, l->out->n++);
    for (int i = 0; i < l->n_queue; i++) {
        const waiting w = l->queue[i];
        tree_node *at = &l->f->entry[w.entry];
        if (w.depth > l->out->depth)
            l->out->depth = w.depth;
        if (at->mode == LEAF) {
            l->out->leaf[w.slot] = w.entry, put_way(l, w.slot, w.slot);
            continue;
        }
        if (at->reached) {
            err_set(e, TS_BAD_INPUT, "tree %d: entry %d of its nodes is reached twice, by two branches or in a circle",
                    tree, w.entry);
            return err_hint(e, "in a tree one branch leads to each node");
        }
        at->reached = true;
        if (w.depth >= DEEPEST)
            return err_set(e, TS_UNSUPPORTED, "tree %d is deeper than %d tests", tree, DEEPEST);
        if (at->mode < BRANCH_EQ)
            lay_test(l, &w, at);
        else
            lay_set(l, &w, at);
    }
    return true;
}

static int64_t most_slots(const forest *f, bool *doubled)
{
    int64_t n = 1 + f->n_tree;
    for (int i = 0; i < f->n_entry; i++) {
        const tree_node *at = &f->entry[i];
        if (at->mode == LEAF)
            continue;
        n += at->mode < BRANCH_EQ ? 2 : at->mode == BRANCH_MEMBER ? 2 + 6 * (int64_t)at->count : 6;
        *doubled = *doubled || at->missing || at->mode == BRANCH_GTE || at->mode == BRANCH_GT;
    }
    return n;
}

bool forest_lay(forest *f, forest_layout *out, err *e)
{
    arena *mem = &f->c->g->mem, own = {0};
    *out = (forest_layout){.n = 1};
    const int64_t n = most_slots(f, &out->doubled), columns = (int64_t)f->features * (1 + out->doubled);
    laying l = {.f = f, .out = out};
    while (INT64_C(1) << out->bits < columns)
        out->bits++;
    if (n > INT_MAX)
        return err_set(e, TS_UNSUPPORTED, "%lld tests in all trees, at most %d expected", (long long)n, INT_MAX);
    out->split = arena_array(mem, (size_t)n, sizeof *out->split);
    out->word = arena_array(mem, (size_t)n, sizeof *out->word);
    out->leaf = arena_array(mem, (size_t)n, sizeof *out->leaf);
    out->root = arena_array(mem, (size_t)f->n_tree, sizeof *out->root);
    l.queue = arena_array(&own, (size_t)n, sizeof *l.queue);
    for (int64_t i = 0; i < n; i++)
        out->leaf[i] = -1;
    put_way(&l, 0, 0);
    bool ok = true;
    for (int i = 0; ok && i < f->n_tree; i++)
        ok = lay_tree(&l, i, e);
    arena_free(&own);
    return ok;
}
