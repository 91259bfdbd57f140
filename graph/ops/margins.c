/* margins.c - linear models and support vectors of ONNX's domain of older machine learning: sums of products with what
 * the file lists, and what classes follow. All in f32. */
#include "graph/ops/forest.h"
#include "graph/ops/scores.h"

#include <string.h>

/* ---- helpers ---- */
typedef struct numbers { /* an attribute's */
    const double *v;
    int n;
} numbers;

static bool read(const onnx_call *c, const char *name, numbers *out, err *e)
{
    return forest_reals(c, name, &out->v, &out->n, e);
}

static bool holds(const char *name, const numbers *a, int64_t n, err *e)
{
    return a->n == n ||
           err_set(e, TS_BAD_INPUT, "attribute %s has %d numbers, %lld expected", name, a->n, (long long)n);
}

/* x [row, feature] times rows of the list [n, feature]: [row, n] */
static const node *products(graph *g, const node *x, int64_t n, const double *v)
{
    return g_call2(g, "matmul", x, g_call1(g, "transpose", scores_table(g, TS_F32, n, x->type.dim[1], v)));
}

static const node *plus(graph *g, const node *y, const numbers *a)
{
    return a->n ? g_call2(g, "add", y, scores_table(g, TS_F32, a->n, 0, a->v)) : y;
}

/* Sums of squares of x [row, feature] less y [n, feature]: [row, n] */
static const node *squares(graph *g, const node *x, const node *y)
{
    const int64_t extent[] = {x->type.dim[0], y->type.dim[0], x->type.dim[1]};
    return g_element(g, NODES(x, y), &(spelling){2, 1, extent, "add", "(a[i0,i2]-b[i1,i2])*(a[i0,i2]-b[i1,i2])"});
}

static const node *first_largest(graph *g, const node *s)
{
    return g_call1(g, "argmax axis=1", s);
}

/* ---- ONNX ---- */
static bool adapt_linear_regressor(const onnx_call *c, const node **out, err *e)
{
    const node *x = scores_input(c, false, e);
    const int64_t n = onnx_int(c, "targets", 1);
    numbers w, b;
    if (!x || !read(c, "coefficients", &w, e) || !read(c, "intercepts", &b, e))
        return false;
    if (n < 1 || n > 1 << 20)
        return err_set(e, TS_BAD_INPUT, "%s is %lld, 1 to 2^20 expected", "targets", (long long)n);
    if (!holds("coefficients", &w, n * x->type.dim[1], e) || (b.n && !holds("intercepts", &b, n, e)))
        return false;
    const node *y = scores_transformed(c, plus(c->g, products(c->g, x, n, w.v), &b), e);
    return !err_is(e) && onnx_give(c, out, y, e);
}

/* There are as many classes as intercepts; a single one is the second of two classes. */
static bool adapt_linear_classifier(const onnx_call *c, const node **out, err *e)
{
    graph *g = c->g;
    const node *x = scores_input(c, false, e);
    const bool labelled = onnx_attr(c, "classlabels_ints") || onnx_attr(c, "classlabels_strings");
    class_labels labels = {0};
    numbers w, b;
    if (!x || !read(c, "coefficients", &w, e) || !read(c, "intercepts", &b, e) ||
        (labelled && !class_labels_read(c, "classlabels_ints", &labels, e)))
        return false;
    const int64_t n = b.n ? b.n : labels.n;
    if (n < 1 || (labelled && labels.n != n && !(n == 1 && labels.n == 2)))
        return err_set(e, TS_BAD_INPUT, "%lld intercepts and %d labels, one of each class expected", (long long)n,
                       labels.n);
    if (!holds("coefficients", &w, n * x->type.dim[1], e))
        return false;
    const node *s = plus(g, products(g, x, n, w.v), &b);
    const node *which = n == 1 ? scores_above(g, s, 0) : s ? first_largest(g, s) : NULL;
    if (labels.n != 2 || n != 1)
        s = scores_transformed(c, s, e);
    else
        s = scores_are(c, "LOGISTIC", e) ? scores_odds(g, s) : scores_pair(g, s, "1-a");
    return !err_is(e) && class_labels_give(c, out, &labels, which, s);
}

typedef struct support {
    numbers coefficient, vector, rho, parameter;
    const char *kernel;
} support;

static bool support_read(const onnx_call *c, support *s, err *e)
{
    s->kernel = onnx_word(c, "kernel_type", "LINEAR");
    if (!read(c, "coefficients", &s->coefficient, e) || !read(c, "support_vectors", &s->vector, e) ||
        !read(c, "rho", &s->rho, e) || !read(c, "kernel_params", &s->parameter, e))
        return false;
    if (s->parameter.n != 3 && (s->parameter.n || strcmp(s->kernel, "LINEAR") != 0))
        return err_set(e, TS_BAD_INPUT, "kernel_params has %d numbers, 3 expected: gamma, coef0 and degree",
                       s->parameter.n);
    return s->rho.n > 0 || err_set(e, TS_BAD_INPUT, "rho is empty, one number at least expected");
}

/* The kernel of each row of x and each of n vectors, [row, n] */
static const node *kernels(const onnx_call *c, const support *s, const node *x, int64_t n, const double *v, err *e)
{
    static const struct {
        const char *name, *text; /* of the product a, or of the sum of squares */
    } kinds[] = {
        {"LINEAR", "a"}, {"POLY", "pow(a*%.9g+%.9g,%.9g)"}, {"SIGMOID", "tanh(a*%.9g+%.9g)"}, {"RBF", "exp(-a*%.9g)"}};
    graph *g = c->g;
    const double none[3] = {0}, *p = s->parameter.n ? s->parameter.v : none;
    const int i = ROW_NAMED(kinds, s->kernel);
    if (i < 0)
        return err_set(e, TS_BAD_INPUT, "kernel_type is \"%.40s\", LINEAR, POLY, RBF or SIGMOID expected", s->kernel),
               NULL;
    const node *y = strcmp(s->kernel, "RBF") ? products(g, x, n, v)
                                             : squares(g, x, scores_table(g, TS_F32, n, x->type.dim[1], v));
    const char *how = arena_format(&g->mem, kinds[i].text, p[0], p[1], p[2]);
    return i && y ? g_formula(g, 1, &y, how) : y;
}

static bool adapt_svm_regressor(const onnx_call *c, const node **out, err *e)
{
    graph *g = c->g;
    support s;
    const node *x = scores_input(c, false, e), *y;
    const int64_t n = onnx_int(c, "n_supports", 0);
    if (!x || !support_read(c, &s, e))
        return false;
    if (n < 0 || n > 1 << 28)
        return err_set(e, TS_BAD_INPUT, "n_supports is %lld, 0 to 2^28 expected", (long long)n);
    if (n &&
        (!holds("support_vectors", &s.vector, n * x->type.dim[1], e) || !holds("coefficients", &s.coefficient, n, e)))
        return false;
    if (!n && !holds("coefficients", &s.coefficient, x->type.dim[1], e))
        return false;
    if (n) {
        const node *k = kernels(c, &s, x, n, s.vector.v, e);
        y = k ? g_call2(g, "matmul", k, scores_table(g, TS_F32, n, 1, s.coefficient.v)) : NULL;
    } else
        y = kernels(c, &s, x, 1, s.coefficient.v, e);
    s.rho.n = 1;
    y = y ? plus(g, y, &s.rho) : NULL;
    if (y && onnx_int(c, "one_class", 0))
        y = g_formula(g, 1, &y, "f32(a>0)*2-1");
    y = scores_transformed(c, y, e);
    return !err_is(e) && onnx_give(c, out, y, e);
}

typedef struct machines { /* one for each pair of classes */
    int64_t pairs, vectors;
    int classes;
    const int64_t *of_class; /* how many vectors */
} machines;

/* Sums of pair (i, j): coefficients of i against j over the vectors of i, and the other way round. Row j - 1 of a list
 * has what vectors of earlier classes weigh against class j. w [vector, pair] */
static const double *weights_of_pairs(graph *g, const machines *m, const double *coefficient)
{
    double *w = arena_array(&g->mem, (size_t)(m->vectors * m->pairs), sizeof *w);
    int64_t p = 0;
    for (int64_t i = 0, from_i = 0; i < m->classes; from_i += m->of_class[i++])
        for (int64_t j = i + 1, from_j = from_i + m->of_class[i]; j < m->classes; from_j += m->of_class[j++], p++) {
            for (int64_t k = from_i; k < from_i + m->of_class[i]; k++)
                w[k * m->pairs + p] = coefficient[(j - 1) * m->vectors + k];
            for (int64_t k = from_j; k < from_j + m->of_class[j]; k++)
                w[k * m->pairs + p] = coefficient[i * m->vectors + k];
        }
    return w;
}

/* The class that wins most pairs, the first of several: votes [row, class] = won [row, pair] times w + lost times u */
static const node *voted(graph *g, const machines *m, const node *s)
{
    const int64_t n = m->classes;
    double *w = arena_array(&g->mem, (size_t)(m->pairs * n), sizeof *w),
           *all = arena_array(&g->mem, (size_t)n, sizeof *all);
    int64_t p = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++, p++)
            w[p * n + i] = 1, w[p * n + j] = -1, all[j]++;
    const node *votes = g_call2(g, "matmul", g_formula(g, 1, &s, "f32(a>0)"), scores_table(g, TS_F32, m->pairs, n, w));
    return first_largest(g, g_call2(g, "add", votes, scores_table(g, TS_F32, n, 0, all)));
}

static bool machines_read(const onnx_call *c, const support *s, const node *x, machines *m, err *e)
{
    const int64_t n = m->classes;
    int have;
    if (!forest_ints(c, "vectors_per_class", &m->of_class, &have, e))
        return false;
    for (int i = 0; i < have; i++) {
        if (m->of_class[i] < 0 || m->of_class[i] > s->vector.n)
            return err_set(e, TS_BAD_INPUT,
                           "vectors_per_class[%d] is %lld, 0 to the %d numbers of support_vectors "
                           "expected",
                           i, (long long)m->of_class[i], s->vector.n);
        m->vectors += m->of_class[i];
    }
    m->pairs = n * (n - 1) / 2;
    if (m->vectors == 0)
        return holds("coefficients", &s->coefficient, n * x->type.dim[1], e);
    if (have != n || n < 2 || n > 1 << 8 || m->pairs * m->vectors > 1 << 24)
        return err_set(e, TS_BAD_INPUT,
                       "vectors_per_class has %d numbers for %lld labels; as many, of 2 to 256 classes, "
                       "expected",
                       have, (long long)n);
    return holds("support_vectors", &s->vector, m->vectors * x->type.dim[1], e) &&
           holds("coefficients", &s->coefficient, (n - 1) * m->vectors, e) && holds("rho", &s->rho, m->pairs, e);
}

/* Chances r [row, class, class] that of two it is the one of the first axis, zeros on the diagonal, by Platt's function
 * of scores s [row, pair] */
static const node *chances(graph *g, const machines *m, const node *s, const numbers *a, const numbers *b)
{
    const int64_t n = m->classes, rows = s->type.dim[0];
    int64_t *pair = arena_array(&g->mem, (size_t)(n * n), sizeof *pair), p = 0;
    double *first = arena_array(&g->mem, (size_t)(n * n), sizeof *first), /* factor of the pair's chance, offset */
        *second = arena_array(&g->mem, (size_t)(n * n), sizeof *second);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++, p++)
            pair[i * n + j] = pair[j * n + i] = p, first[i * n + j] = 1, first[j * n + i] = -1, second[j * n + i] = 1;
    const node *r = g_formula(
        g, NODES(s, scores_table(g, TS_F32, m->pairs, 0, a->v), scores_table(g, TS_F32, m->pairs, 0, b->v)),
        "min(max(1/(1+exp(a*b+c)),0.0000001),0.9999999)");
    r = g_call2(g, "gather axis=1", r, g_ints(g, (int)(n * n), pair)); /* [row, class * class] */
    r = r ? g_formula(g, NODES(r, scores_table(g, TS_F32, n * n, 0, first), scores_table(g, TS_F32, n * n, 0, second)),
                      "a*b+c")
          : NULL;
    return r ? g_reshape(g, r, 3, (int64_t[]){rows, n, n}) : NULL;
}

/* One sweep over the classes: p moves towards the least p Q p, one class after the other. p, qp = Q p [row, class],
 * pqp, may [row, 1]: 0 where a row has ended; q [class, row, class], one [class, 1, class] of the identity */
static const node *swept(graph *g, const node *const in[5], const node *may)
{
    ts_scan *by = ts_scan_begin(g, in[3]->type.dim[0]);
    const node *p = ts_scan_state(by, in[0]), *qp = ts_scan_state(by, in[1]), *pqp = ts_scan_state(by, in[2]),
               *q = ts_scan_slice(by, in[3], false), *one = ts_scan_slice(by, in[4], false), *out[3] = {0};
    const node *own = g_call1(g, "sum axes=[1] keepdims=1", g_call2(g, "multiply", q, one)),
               *at = g_call1(g, "sum axes=[1] keepdims=1", g_call2(g, "multiply", qp, one));
    const node *by_how = g_formula(g, NODES(pqp, at, own, may), "d*(a-b)/c");
    ts_scan_step(by, p, g_formula(g, NODES(p, by_how, one), "(a+b*c)/(1+b)"));
    ts_scan_step(by, qp, g_formula(g, NODES(qp, by_how, q), "(a+b*c)/(1+b)"));
    ts_scan_step(by, pqp, g_formula(g, NODES(pqp, by_how, own, at), "(a+b*(b*c+2*d))/(1+b)/(1+b)"));
    return ts_scan_end(by, out) ? out[0] : NULL;
}

/* Probabilities of classes from those of pairs, as libsvm couples them (Wu, Lin, Weng 2004) and runtimes after it: the
 * iteration ends, row by row, once Q p is even to within 0.005 / class. r [row, class, class] -> [row, class] */
static const node *coupled(graph *g, const node *r)
{
    const int64_t rows = r->type.dim[0], n = r->type.dim[1];
    double *unit = arena_array(&g->mem, (size_t)(n * n), sizeof *unit);
    for (int64_t i = 0; i < n; i++)
        unit[i * n + i] = 1;
    const node *eye = scores_table(g, TS_F32, n, n, unit), *turned = g_swapped(g, r);
    const node *own = g_call1(g, "sum axes=[1] keepdims=1", g_call2(g, "multiply", r, r)); /* [row, 1, class] */
    /* [row, class, class]: sums of r[j,t]^2 on the diagonal, else -r[j,t] r[t,j] */
    const node *q = g_formula(g, NODES(own, eye, r, turned), "a*b-c*d");
    const type start = {.dtype = TS_F32, .rank = 2, .dim = {rows, n}};
    if (!q)
        return NULL;
    ts_scan *by = ts_scan_begin(g, n > 100 ? n : 100);
    const node *p = ts_scan_state(by, g_filled(g, &start, 1.0 / (double)n)), *out[1] = {0};
    const node *qp = g_call1(g, "sum axes=[2]",
                             g_call2(g, "multiply", q, p ? g_reshape(g, p, 3, (int64_t[]){rows, 1, n}) : NULL));
    const node *pqp = g_call1(g, "sum axes=[1] keepdims=1", g_call2(g, "multiply", p, qp)); /* [row, 1] */
    const node *off = g_call1(g, "max axes=[1] keepdims=1", g_formula(g, NODES(qp, pqp), "abs(a-b)"));
    const node *may = g_formula(g, 1, &off, arena_format(&g->mem, "f32(a>=%.9g)", 0.005 / (double)n));
    const node *in[] = {p, qp, pqp, g_call1(g, "transpose axes=[1,0,2]", q),
                        g_reshape(g, eye, 3, (int64_t[]){n, 1, n})};
    ts_scan_step(by, p, swept(g, in, may));
    ts_scan_until(by, g_call1(g, "logical_not", g_call1(g, "any axes=[0,1]", g_cast(g, may, TS_BOOL))));
    return ts_scan_end(by, out) ? out[0] : NULL;
}

static const node *pair_scores(const onnx_call *c, const machines *m, const node *s, err *e)
{
    numbers a, b;
    if (!read(c, "prob_a", &a, e) || !read(c, "prob_b", &b, e))
        return NULL;
    if (a.n) {
        const node *r = holds("prob_a", &a, m->pairs, e) && holds("prob_b", &b, m->pairs, e)
                            ? chances(c->g, m, s, &a, &b)
                            : NULL;
        return r ? scores_transformed(c, coupled(c->g, r), e) : NULL;
    }
    if (m->classes == 2)
        return scores_are(c, "LOGISTIC", e) ? scores_odds(c->g, s)
                                            : scores_pair(c->g, s, scores_are(c, "NONE", e) ? "-a" : "1-a");
    return scores_transformed(c, s, e);
}

static bool adapt_svm_classifier(const onnx_call *c, const node **out, err *e)
{
    graph *g = c->g;
    support s;
    class_labels labels;
    const node *x = scores_input(c, false, e), *y, *which = NULL;
    if (!x || !support_read(c, &s, e) || !class_labels_read(c, "classlabels_ints", &labels, e))
        return false;
    machines m = {.classes = labels.n};
    if (!machines_read(c, &s, x, &m, e))
        return false;
    if (m.vectors) {
        const node *k = kernels(c, &s, x, m.vectors, s.vector.v, e);
        const double *w = weights_of_pairs(g, &m, s.coefficient.v);
        y = k ? plus(g, g_call2(g, "matmul", k, scores_table(g, TS_F32, m.vectors, m.pairs, w)), &s.rho) : NULL;
        which = y ? voted(g, &m, y) : NULL;
        y = y ? pair_scores(c, &m, y, e) : NULL;
    } else {
        s.kernel = "LINEAR", s.rho.n = 1;
        y = plus(g, products(g, x, m.classes, s.coefficient.v), &s.rho);
        which = y ? first_largest(g, y) : NULL;
        y = scores_transformed(c, y, e);
    }
    return !err_is(e) && class_labels_give(c, out, &labels, which, y);
}

/* Distances of all rows of a to all of b, as scikit-learn's neighbours and Gaussian processes are exported */
static bool adapt_distances(const onnx_call *c, const node **out, err *e)
{
    const type *a = &c->in[0]->type, *b = &c->in[1]->type;
    const char *metric = onnx_word(c, "metric", "sqeuclidean");
    const bool root = !strcmp(metric, "euclidean");
    if (!root && strcmp(metric, "sqeuclidean") != 0)
        return err_set(e, TS_BAD_INPUT, "metric is \"%.40s\", euclidean or sqeuclidean expected", metric);
    if (a->rank != 2 || b->rank != 2 || a->dim[1] != b->dim[1])
        return operands_refuse(2, c->in, e, "[m, feature] and [n, feature]");
    const node *y = squares(c->g, c->in[0], c->in[1]);
    return onnx_give(c, out, root && y ? g_call1(c->g, "sqrt", y) : y, e);
}

/* ---- records ---- */
const op ops_margins[] = {
    {.call = "margins",
     .doc = "Linear models and support vectors, as other operations.",
     .adapted = ADAPTED(
         {"ai.onnx.ml.LinearRegressor 1 n 1 coefficients intercepts post_transform targets", adapt_linear_regressor},
         {"ai.onnx.ml.LinearClassifier 1 n 1 >2 classlabels_ints classlabels_strings coefficients "
          "intercepts multi_class post_transform",
          adapt_linear_classifier},
         {"ai.onnx.ml.SVMRegressor 1 n 1 coefficients kernel_params kernel_type n_supports one_class "
          "post_transform rho support_vectors",
          adapt_svm_regressor},
         {"ai.onnx.ml.SVMClassifier 1 n 1 >2 classlabels_ints classlabels_strings coefficients "
          "kernel_params kernel_type post_transform prob_a prob_b rho support_vectors "
          "vectors_per_class",
          adapt_svm_classifier},
         {"com.microsoft.CDist 1 f 2 metric", adapt_distances}),
     .onnx_cases =
         "com.microsoft.CDist f32[3,2] f32[4,2] metric=euclidean\n"
         "ai.onnx.ml.LinearRegressor f32[3,2] coefficients=[1.0,2.0]\n"
         "ai.onnx.ml.LinearClassifier f32[3,2] coefficients=[1.0,2.0] intercepts=[0.5] classlabels_ints=[0,1]\n"
         "ai.onnx.ml.SVMRegressor f32[3,2] coefficients=[1.0,2.0] rho=[0.5]\n"
         "ai.onnx.ml.SVMClassifier f32[3,2] coefficients=[1.0,2.0] support_vectors=[1.0,2.0,3.0,4.0] rho=[0.5] "
         "vectors_per_class=[1,1] classlabels_ints=[0,1]"},
    {0},
};
