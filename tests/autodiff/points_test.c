/* Gradients against closed forms where definitions are likeliest to break: at 0, where corners have to cancel, and far
 * out, where exp overflows; in f64 by the interpreter and in f32 by generated code. */
#include "tests/check.h"

#include "tessera.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

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

/* ---- what has them ---- */
static const struct {
    const char *call;
    double (*slope)(double a);
} row[] = {{"sigmoid", sigmoid},
           {"silu", silu},
           {"silu alpha=2", silu2},
           {"quick_gelu", quick_gelu},
           {"formula text=1/(exp(-a)+1)", sigmoid}};

/* eps times what the terms cancel in, and what is flushed to 0. */
static bool near(double got, double want, const ts_options *o, double a)
{
    const bool narrow = o->target[0] == 'c';
    const double eps = narrow ? FLT_EPSILON : DBL_EPSILON, least = narrow ? FLT_MIN : DBL_MIN;
    return fabs(got - want) <= eps * (4 + 2 * fabs(a)) * fabs(want) + least * (1 + fabs(a));
}

static void check_row(int i, const ts_options *o)
{
    const ts_dtype d = o->target[0] == 'c' ? TS_F32 : TS_F64;
    const int64_t n = COUNT(point);
    ts_graph *g = ts_graph_make();
    ts_tensor x = ts_input(g, "x", d, 1, &n), y = ts_call1(g, "sum", ts_call1(g, row[i].call, x)), grad;
    ts_error e = {0};
    ts_array in, out;
    if (!CHECK(ts_chain_rule(g, 1, &y, NULL, 1, &x, &grad)) || !CHECK(ts_array_make(&in, d, 1, &n, &e)))
        return;
    for (int k = 0; k < n; k++)
        if (d == TS_F32)
            ((float *)in.data)[k] = (float)point[k];
        else
            ((double *)in.data)[k] = point[k];
    if (CHECK(ts_eval(1, &grad, 1, &(ts_given){"x", in}, o, &out, &e))) {
        for (int k = 0; k < n; k++)
            if (!CHECK(near(ts_array_at(&out, k), row[i].slope(point[k]), o, point[k])))
                printf("  %s on %s at %g: %.9g, want %.9g\n", row[i].call, o->target, point[k], ts_array_at(&out, k),
                       row[i].slope(point[k]));
        ts_array_free(&out);
    } else
        printf("  %s\n", e.text);
    ts_array_free(&in);
    ts_graph_free(g);
}

int main(void)
{
    static const ts_options by[] = {{.target = "interp"}, {.target = "c", .cache_dir = "none", .threads = 1}};
    for (int i = 0; i < COUNT(row); i++)
        for (int k = 0; k < COUNT(by); k++)
            check_row(i, &by[k]);
    return check_done();
}
