/* gmm.c - the mixture of Gaussians of ADBench (Srajer, Kukelova and Fitzgibbon 2018): the logarithm of the likelihood
 * of n points x of d numbers under k Gaussians with weights softmax(alphas), means, and inverse covariances q' q, with
 * a Wishart prior. q's diagonal is exp of the first d numbers of a row of icf, the rest is its strict lower part,
 * column by column. */
#include "models/adbench/objective.h"
#include "models/parts/maker.h"

#include <math.h>

static ts_tensor table(ts_graph *g, ts_dtype dtype, int64_t d, double (*at)(int64_t d, int64_t row, int64_t column))
{
    ts_array a;
    ts_error e = {0};
    if (!ts_array_make(&a, dtype, 1, (const int64_t[]){d * d}, &e))
        return NULL;
    for (int64_t i = 0; i < d * d; i++)
        ts_array_set(&a, i, at(d, i / d, i % d));
    ts_tensor t = ts_constant(g, NULL, &a); /* [d d] */
    ts_array_free(&a);
    return t;
}

/* Where a row of icf has q's element; above the diagonal anything. */
static double place(int64_t d, int64_t row, int64_t column)
{
    if (row <= column)
        return row == column ? (double)row : 0;
    return (double)(d + column * (d - 1) - column * (column - 1) / 2 + row - column - 1);
}

static double is_lower(int64_t d, int64_t row, int64_t column)
{
    return (void)d, row > column;
}

static double is_diagonal(int64_t d, int64_t row, int64_t column)
{
    return (void)d, row == column;
}

static ts_tensor reshaped(ts_graph *g, ts_tensor t, int64_t a, int64_t b, int64_t c)
{
    return maker_call(g, 1, &t, c ? "reshape shape=[%lld,%lld,%lld]" : "reshape shape=[%lld,%lld]", (long long)a,
                      (long long)b, (long long)c);
}

/* t [..., c] -> sum over ... of log(sum over c of exp(t)), []; the maximum keeps exp in range */
static ts_tensor logsumexp(ts_graph *g, ts_tensor t)
{
    ts_tensor most = ts_call1(g, "stop", ts_call1(g, "max axes=[-1] keepdims=1", t)); /* [..., 1] */
    ts_tensor sum = ts_call1(g, "sum axes=[-1] keepdims=1",
                             ts_call1(g, "exp", ts_call2(g, "subtract", t, most))); /* [..., 1] */
    return ts_call1(g, "sum", ts_call2(g, "add", ts_call1(g, "log", sum), most));
}

/* n points x [n, d] under k Gaussians, each with a lower triangle q [d, d] whose diagonal is the exponential of what
 * icf says: sum over i of log(sum over k of exp(alphas[k] + sum over j of log q[k, j, j] - |q[k] (x[i] - means[k])|^2 /
 * 2)), less the same of alphas, and a Wishart prior on q */
static bool build(ts_model *m, ts_graph *g, ts_error *e)
{
    const int64_t n = ts_dim(m, "n"), d = ts_dim(m, "d"), k = ts_dim(m, "k");
    const ts_dtype real = objective_real(m, e);
    if (real == TS_N_DTYPE)
        return false;
    ts_tensor alphas = ts_input(g, "alphas", real, 1, &k);                              /* [k] */
    ts_tensor means = ts_input(g, "means", real, 2, (const int64_t[]){k, d});           /* [k, d] */
    ts_tensor icf = ts_input(g, "icf", real, 2, (const int64_t[]){k, d * (d + 1) / 2}); /* [k, d (d + 1) / 2] */
    ts_tensor x = ts_input(g, "x", real, 2, (const int64_t[]){n, d});                   /* [n, d] */
    ts_tensor prior = ts_input(g, "prior", real, 1,
                               (const int64_t[]){3}); /* [3]: gamma, m, what does not depend on icf */
    ts_tensor raw = ts_call2(g, "gather axis=1", icf, table(g, TS_I64, d, place)); /* [k, d d] */
    ts_tensor q = ts_call(
        g, "formula text=\"c == 1 ? exp(a) : a * b\"", 3,
        (const ts_tensor[]){raw, table(g, real, d, is_lower), table(g, real, d, is_diagonal)}); /* [k, d d] */
    ts_tensor sums = maker_call(g, 1, &icf, "element dims=[%lld] folds=[%lld] text=a[i0,i1]", (long long)k,
                                (long long)d);  /* [k], of the logarithms of q's diagonal */
    ts_tensor square = reshaped(g, q, k, d, d); /* [k, d, d] */
    /* columns of q side by side; products with x and with means */
    ts_tensor flat = ts_call1(g, "transpose axes=[1,0]", reshaped(g, q, k * d, d, 0)); /* [d, k d] */
    ts_tensor at_x = reshaped(g, ts_call2(g, "matmul", x, flat), n, k, d);             /* [n, k, d] */
    ts_tensor at_mean = maker_call(g, 2, (const ts_tensor[]){square, means},
                                   "element dims=[%lld,%lld] folds=[%lld] text=a[i0,i1,i2]*b[i0,i2]", (long long)k,
                                   (long long)d, (long long)d); /* [k, d] */
    ts_tensor away = ts_call1(g, "sum axes=[-1]",
                              ts_call1(g, "square", ts_call2(g, "subtract", at_x, at_mean))); /* [n, k] */
    ts_tensor inner = ts_call(g, "formula text=\"a + b - 0.5 * c\"", 3,
                              (const ts_tensor[]){alphas, sums, away}); /* [n, k] */
    ts_tensor squares = ts_call1(g, "sum", ts_call1(g, "square", q));   /* [] */
    ts_tensor total = ts_call1(g, "sum", sums);                         /* [] */
    ts_tensor wishart = ts_call(g, "element dims=[] text=0.5*a[0]*a[0]*b-a[1]*c-a[2]", 3,
                                (const ts_tensor[]){prior, squares, total}); /* [] */
    /* -n d / 2 log(2 pi), pi as ADBench has it */
    ts_result(m, "objective",
              maker_call(g, 3, (const ts_tensor[]){logsumexp(g, inner), logsumexp(g, alphas), wishart},
                         "formula text=\"a - %lld * b + c + %.17g\"", (long long)n,
                         -0.5 * (double)(n * d) * 1.8378770664093453));
    return ts_graph_ok(g, e);
}

/* ---- its data ---- */
/* What of the Wishart prior depends on gamma and m alone, pi as ADBench has it. */
static double constant(int64_t d, int64_t k, double gamma, double m)
{
    const double n = (double)d + m + 1, log_pi = log(3.14159265359);
    double out = 0.25 * (double)(d * (d - 1)) * log_pi;
    for (int64_t j = 1; j <= d; j++)
        out += lgamma(0.5 * n + 0.5 * (double)(1 - j));
    return (double)k * (n * (double)d * (log(gamma) - 0.5 * log(2)) - out);
}

static bool read(problem *p)
{
    const int64_t d = objective_size(p, "d", 1), k = objective_size(p, "k", 1), n = objective_size(p, "n", 1);
    const int64_t icf[] = {k, d * (d + 1) / 2}, three = 3;
    const numbers normal = {.normal = true, .spread = 1}, share = {.mean = 0.5, .spread = 0.5};
    if (n < 1 || !objective_take(p, "alphas", normal, 1, &k) ||
        !objective_take(p, "means", share, 2, (const int64_t[]){k, d}) || !objective_take(p, "icf", normal, 2, icf) ||
        !objective_take(p, "x", normal, 2, (const int64_t[]){n, d}))
        return false;
    double *prior = objective_take(p, "prior", (numbers){.mean = 1, .first = 2}, 1, &three);
    if (!prior)
        return false;
    if (!p->at)
        prior[1] = 0;
    if (prior[0] <= 0 || prior[1] < 0)
        return objective_fail(p, TS_BAD_INPUT, "%s: gamma is %g and m %g, positive and not negative ones expected",
                              p->file, prior[0], prior[1]);
    return prior[2] = constant(d, k, prior[0], prior[1]), true;
}

/* ---- records ---- */
const ts_builder builders_gmm[] = {{"adbench-gmm", "A mixture of Gaussians, of ADBench", "n=50 d=2 k=5 bits=64", build},
                                   {0}};

const objective objective_gmm = {.name = "gmm",
                                 .brief = "logarithm of the likelihood of a mixture of Gaussians, by its parameters",
                                 .file = "d k n, alphas, means, inverse covariance factors, points, gamma m",
                                 .sizes = "n=1000 d=10 k=25",
                                 .n_value = 1,
                                 .n_gradient = 3,
                                 .read = read};
