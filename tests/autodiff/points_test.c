/* ctest: Og
 * Gradients against closed forms where definitions are likeliest to break: at 0, where corners have to cancel, and far
 * out, where exp overflows; in f64 by the interpreter and in f32 by generated code. */
#include "graph/base/base.h"
#include "tests/check.h"

#include "tessera.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double point[] = {-1e20, -700, -100, -89, -60, -50, -20, -1, -0.0, 0, 1, 9, 20, 60, 100, 700, 1e20};

static double s(double a)
{
    return 1 / (1 + exp(-a));
}

/* ---- closed forms ---- */
static double sigmoid(double a)
{
    return s(a) * s(-a);
}

static double swish(double alpha, double a) /* of a s(alpha a) */
{
    return s(alpha * a) + alpha * a * s(alpha * a) * s(-alpha * a);
}

static double silu(double a)
{
    return swish(1, a);
}

static double silu2(double a)
{
    return swish(2, a);
}

static double quick_gelu(double a)
{
    return swish(1.702, a);
}

static double tanh1(double a)
{
    return 1 / (cosh(a) * cosh(a));
}

static double erf1(double a)
{
    return 2 / sqrt(acos(-1)) * exp(-a * a);
}

static double gelu(double a)
{
    return 0.5 * erfc(-a * sqrt(0.5)) + a * erf1(a * sqrt(0.5)) * sqrt(0.125);
}

static double mish(double a)
{
    const double y = fmax(a, 0) + log1p(exp(-fabs(a)));
    return tanh(y) + a * tanh1(y) * s(a);
}

static double elu(double a)
{
    return exp(fmin(a, 0));
}

static double celu(double a) /* alpha 1/2 */
{
    return elu(2 * a);
}

static double softsign(double a)
{
    return 1 / ((1 + fabs(a)) * (1 + fabs(a)));
}

static double bce(double a) /* label 1; -s(-a) */
{
    return -s(-a);
}

static double twice(double a)
{
    return 2 * a;
}

/* ---- what has them ---- */
typedef struct row {
    const char *call;
    double (*slope)(double a);
    double part; /* the size of parts that it may be a difference of; 0: there are none */
    int more;    /* derivatives before this one */
} row;
static const row rows[] = {{"sigmoid", sigmoid, 0, 0},
                           {"silu", silu, 0, 0},
                           {"silu alpha=2", silu2, 0, 0},
                           {"quick_gelu", quick_gelu, 0, 0},
                           {"formula text=1/(exp(-a)+1)", sigmoid, 0, 0},
                           {"softplus", s, 0, 0},
                           {"softplus", sigmoid, 0, 1},
                           {"binary_cross_entropy reduce=none", bce, 1, 0},
                           {"elu", elu, 1, 0},
                           {"celu alpha=0.5", celu, 1, 0},
                           {"tanh", tanh1, 1, 0},
                           {"erf", erf1, 0, 0},
                           {"gelu", gelu, 1, 0},
                           {"mish", mish, 1, 0},
                           {"softsign", softsign, 1, 0},
                           {"square", twice, 0, 0}};

/* eps times what is subtracted, and what is flushed to 0. */
static bool near(const row *r, double got, double want, bool narrow, double a)
{
    const double eps = narrow ? FLT_EPSILON : DBL_EPSILON, least = narrow ? FLT_MIN : DBL_MIN;
    return fabs(got - want) <= eps * (4 + 2 * fabs(a)) * (fabs(want) + r->part) + least * (1 + fabs(a));
}

static bool make(ts_graph *g, const row *r, ts_tensor x, ts_tensor *grad)
{
    const ts_tensor one = ts_scalar(g, ts_type(x), 1);
    ts_tensor y = strstr(r->call, "entropy") ? ts_call2(g, r->call, x, one) : ts_call1(g, r->call, x);
    for (int i = 0; i <= r->more; i++, y = *grad) {
        y = ts_call1(g, "sum", y);
        if (!ts_chain_rule(g, 1, &y, NULL, 1, &x, grad))
            return false;
    }
    return true;
}

static void check_row(const row *r, bool narrow)
{
    const ts_options o = {.target = narrow ? "c" : "interp", .cache_folder = "none", .threads = 1};
    const ts_dtype d = narrow ? TS_F32 : TS_F64;
    const int64_t n = COUNT(point);
    ts_graph *g = ts_graph_make();
    ts_tensor grad;
    ts_error e = {0};
    ts_array in, out;
    if (!CHECK(make(g, r, ts_input(g, "x", d, 1, &n), &grad)) || !CHECK(ts_array_make(&in, d, 1, &n, &e)))
        return;
    for (int k = 0; k < n; k++)
        if (narrow)
            ((float *)in.data)[k] = (float)point[k];
        else
            ((double *)in.data)[k] = point[k];
    if (CHECK(ts_eval(1, &grad, 1, &(ts_given){"x", in}, &o, &out, &e))) {
        for (int k = 0; k < n; k++)
            if (!CHECK(near(r, ts_array_at(&out, k), r->slope(point[k]), narrow, point[k])))
                printf("  %s on %s at %g: %.9g, want %.9g\n", r->call, o.target, point[k], ts_array_at(&out, k),
                       r->slope(point[k]));
        ts_array_free(&out);
    } else
        printf("  %s\n", e.text);
    ts_array_free(&in);
    ts_graph_free(g);
}

int main(void)
{
    for (int i = 0; i < COUNT(rows); i++)
        for (int narrow = 0; narrow < 2; narrow++)
            check_row(&rows[i], narrow);
    return check_done();
}
