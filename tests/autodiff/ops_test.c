/* Gradients of every operation over every case of its record, in f64: against central differences, forward against
 * reverse products, and second derivatives against differences of first ones. A new operation is tested by existing.
 * An operation without a tested gradient must be one whose results are no reals, or in `other`. With a name, only
 * that operation, and the gradient is printed. Under sanitizers gradients are computed, each once, and held against
 * nothing: the differences are other values of the same graphs, twenty of each. */
#include "tests/autodiff/rows.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SANITIZE_ADDRESS__
enum { COMPARED = 0 };
#else
enum { COMPARED = 1 };
#endif

static const char *only;
static int n_first, n_second, n_product;

static double dot(const ts_array *a, const ts_array *b)
{
    double sum = 0;
    for (int64_t i = 0; i < ts_array_count(a); i++)
        sum += ts_array_at(a, i) * ts_array_at(b, i);
    return sum;
}

static bool all_finite(const ts_array *a)
{
    bool ok = true;
    for (int64_t i = 0; i < ts_array_count(a); i++)
        ok = ok && isfinite(ts_array_at(a, i));
    return ok;
}

static double largest(const ts_array *a)
{
    double m = 0;
    for (int64_t i = 0; i < ts_array_count(a); i++)
        m = fmax(m, fabs(ts_array_at(a, i)));
    return m;
}

typedef struct probe { /* one operand of one case */
    row r;
    values v;
    const node *x, *seed, *along; /* along: a direction in x's shape, an input of the graph */
    ts_array u;
    char where[1200];
} probe;

/* The value of n with x moved by h along u. */
static bool moved(probe *p, const node *n, double h, ts_array *out)
{
    ts_array *x = &p->v.of[p->x->id], was;
    const int64_t count = ts_array_count(x);
    if (!ts_array_make(&was, TS_F64, x->rank, x->dim, NULL))
        return false;
    memcpy(was.data, x->data, (size_t)count * sizeof(double));
    for (int64_t i = 0; i < count; i++)
        ((double *)x->data)[i] += h * ts_array_at(&p->u, i);
    const bool ok = values_of(&p->v, n, out, NULL);
    memcpy(x->data, was.data, (size_t)count * sizeof(double));
    ts_array_free(&was);
    return ok;
}

/* Derivative of <n, w> along u by differences of fourth order over steps h, and how much it changes there: what the
 * derivatives from the right and from the left, of second order each, differ by. */
typedef struct slope {
    double by, bend, scale;
} slope;

static bool slope_of(probe *p, const node *n, const ts_array *w, double h, slope *s)
{
    static const double at[] = {0, 1, -1, 2, -2}, by[] = {0, 8, -8, -1, 1}, bend[] = {-6, 4, 4, -1, -1};
    *s = (slope){0};
    for (int i = 0; i < COUNT(at); i++) {
        ts_array y;
        if (!moved(p, n, at[i] * h, &y))
            return false;
        const bool ok = all_finite(&y);
        s->by += by[i] * dot(&y, w) / (12 * h);
        s->bend += bend[i] * dot(&y, w) / (2 * h);
        s->scale = fmax(s->scale, largest(&y) * largest(w));
        ts_array_free(&y);
        if (!ok)
            return false;
    }
    return true;
}

static double rounding(const node *n) /* of the narrowest reals on the way */
{
    static const double eps[TS_N_DTYPE] = {[TS_F64] = 1e-16, [TS_F32] = 6e-8, [TS_F16] = 5e-4, [TS_BF16] = 4e-3};
    const node **all = calloc((size_t)n->id + 1, sizeof *all);
    MUST(all);
    double most = 0;
    for (int i = g_reach(1, &n, all); i-- > 0;)
        most = fmax(most, eps[all[i]->type.dtype]);
    return free(all), most;
}

/* False where two steps or two sides do not agree: at a jump or a corner there is nothing to compare with. tolerance:
 * rounding errors of the values over the smaller step, and 1e-6 of the slope. */
static bool difference(probe *p, const node *n, const ts_array *w, double *d, double *tolerance)
{
    if (!COMPARED)
        return true;
    const double eps = rounding(n), h = eps > 1e-10 ? 0.02 : 1e-3;
    slope again, s;
    if (!slope_of(p, n, w, h, &again) || !slope_of(p, n, w, h / 4, &s))
        return false;
    *d = s.by;
    *tolerance = 1e-6 * fabs(s.by) + 1e3 * eps * (s.scale + 1) / h * 4;
    return fabs(s.by - again.by) <= 10 * *tolerance && fabs(s.bend) <= 10 * *tolerance;
}

static bool near(const probe *p, const char *what, double got, double want, double tolerance)
{
    const bool ok = !COMPARED || fabs(got - want) <= tolerance;
    if (!CHECK(ok))
        printf("  %s, operand %s: %s %.12g, by differences %.12g\n", p->where, p->x->label, what, got, want);
    return ok;
}

/* <grad, u> against the difference of <y, seed> along u. */
static bool check_first(probe *p, const node *y, const node *grad, const char *what)
{
    ts_array w, got;
    double want = 0, tolerance = 0;
    if (!values_of(&p->v, p->seed, &w, NULL))
        return false;
    const bool known = difference(p, y, &w, &want, &tolerance);
    err e = {0};
    const bool have = known && values_of(&p->v, grad, &got, &e);
    if (known && !CHECK(have))
        printf("  %s: %s: %s\n", p->where, what, e.text);
    if (have)
        near(p, what, dot(&got, &p->u), want, tolerance), ts_array_free(&got);
    ts_array_free(&w);
    return have;
}

static const node *inner(graph *g, const node *a, const node *b)
{
    return g_call1(g, "sum", g_call2(g, "multiply", a, b));
}

/* The gradient's gradient: of <grad, along> with respect to seed it is the forward product J u; with respect to x, the
 * second derivative. */
static void check_higher(probe *p, const node *grad)
{
    graph *g = p->r.g;
    const node *s = inner(g, grad, p->along), *second[2];
    ts_array forward, backward, w;
    if (!CHECK(ts_chain_rule(g, 1, &s, NULL, 2, (const node *const[]){p->seed, p->x}, second))) {
        printf("  %s: second derivative: %s\n", p->where, g->err.text);
        return;
    }
    if (values_of(&p->v, second[0], &forward, NULL) && values_of(&p->v, grad, &backward, NULL) &&
        values_of(&p->v, p->seed, &w, NULL)) {
        const double a = dot(&forward, &w), b = dot(&backward, &p->u);
        n_product++;
        if (!CHECK(!COMPARED || fabs(a - b) <= (1e-9 + 10 * rounding(s)) * (fabs(a) + fabs(b) + 1)))
            printf("  %s, operand %s: forward product %.15g, reverse %.15g\n", p->where, p->x->label, a, b);
        ts_array_free(&forward), ts_array_free(&backward), ts_array_free(&w);
    }
    double want = 0, tolerance = 0;
    ts_array got;
    if (difference(p, grad, &p->u, &want, &tolerance) && values_of(&p->v, second[1], &got, NULL)) {
        n_second++;
        near(p, "second derivative", dot(&got, &p->u), want, tolerance);
        ts_array_free(&got);
    }
}

/* True when the gradient was held against a difference. */
static bool check_operand(const op *o, const char *line, int k, const double range[2], double scale)
{
    probe p = {.r = row_make(ts_graph_make(), o->name, line)};
    graph *g = p.r.g;
    const node *y = p.r.y, *grad;
    bool tested = false;
    snprintf(p.where, sizeof p.where, "%s: %s, times %g", o->name, line, scale);
    p.x = y ? p.r.in[k] : NULL;
    if (!y || dtype_class(y->type.dtype) != D_REAL || p.x->leaf->kind != LEAF_INPUT || p.x->type.dtype != TS_F64)
        return ts_graph_free(g), false;
    p.v = values_make(&p.r, range[0], range[1], 7);
    for (int64_t i = 0; i < ts_array_count(&p.v.of[p.x->id]); i++)
        ((double *)p.v.of[p.x->id].data)[i] *= scale;
    p.seed = g_input(g, "seed", &y->type, NULL), p.along = g_input(g, "along", &p.x->type, NULL);
    if (values_add(&p.v, p.seed, 11) && values_add(&p.v, p.along, 13) && values_of(&p.v, p.along, &p.u, NULL)) {
        if (!ts_chain_rule(g, 1, &y, &p.seed, 1, &p.x, &grad)) {
            if (!CHECK(g->err.code == TS_UNSUPPORTED && strstr(g->err.text, o->name)))
                printf("  %s: %s\n", p.where, g->err.text);
        } else if (CHECK(type_equal(&grad->type, &p.x->type)) && (tested = check_first(&p, y, grad, "gradient"))) {
            n_first++;
            if (only) {
                char *t = ts_print(1, &grad);
                printf("# %s, operand %d\n%s", line, k, t), ts_free(t);
            }
            if (scale == 1)
                check_higher(&p, grad);
        }
        ts_array_free(&p.u);
    }
    values_free(&p.v);
    ts_graph_free(g);
    return tested;
}

static bool gives_reals(const op *o, const char *line)
{
    row r = row_make(ts_graph_make(), o->name, line);
    bool real = r.y && dtype_class(r.y->type.dtype) == D_REAL && type_count(&r.y->type) > 0, from = false;
    for (int k = 0; k < r.n; k++)
        from = from || (r.in[k]->type.dtype == TS_F64 && r.in[k]->leaf->kind == LEAF_INPUT);
    ts_graph_free(r.g);
    return real && from;
}

static void check_op(const op *o)
{
    static const double range[][2] = {{-2, 2}, {0.1, 0.9}, {1.1, 3}};
    static const double edge[] = {0, 1e3}; /* where corners that cancel lie, and where exp leaves the range */
    bool tested = false, needed = false;
    for (const char *at = o->cases; at && *at;) {
        char line[1024];
        const size_t n = strcspn(at, "\n");
        snprintf(line, sizeof line, "%.*s", (int)n, at);
        at += n + (at[n] == '\n');
        needed = needed || gives_reals(o, line);
        for (int k = 0; k < ROW_OPERANDS; k++) {
            row r = row_make(ts_graph_make(), o->name, line);
            const int count = r.n;
            ts_graph_free(r.g);
            if (k >= count)
                break;
            bool done = false;
            for (int i = 0; i < COUNT(range) && !done; i++)
                done = check_operand(o, line, k, range[i], 1);
            for (int i = 0; i < COUNT(edge); i++)
                check_operand(o, line, k, range[0], edge[i]);
            tested = tested || done;
        }
    }
    if (needed && !CHECK(tested))
        printf("  %s: no gradient was tested\n", o->name);
}

/* Differences see through `stop`. */
static const char *const other[] = {"stop"};

static bool is_other(const char *name)
{
    bool found = false;
    for (int i = 0; i < COUNT(other); i++)
        found = found || !strcmp(other[i], name);
    return found;
}

int main(int argc, char **argv)
{
    only = argc > 1 ? argv[1] : NULL;
    for (const op *o = op_next(NULL); o; o = op_next(o))
        if (only ? !strcmp(only, o->name) : !is_other(o->name))
            check_op(o);
    printf("%d gradients, %d forward products, %d second derivatives\n", n_first, n_product, n_second);
    return check_done();
}
