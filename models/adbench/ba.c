/* ba.c - bundle adjustment as ADBench has it: p observations of m points by n cameras. A camera is a rotation vector, a
 * centre, a focal length, a principal point and two radial terms; errors are in the picture, times a weight, and
 * 1 - w^2 for each weight. What each observation reads, a row of its own, are results too, so that Jacobians
 * with respect to them can be asked for: those of other observations are zeros. */
#include "models/adbench/objective.h"
#include "models/parts/maker.h"

static ts_tensor column(ts_graph *g, ts_tensor t, int i)
{
    return maker_call(g, 1, &t, "element dims=[%lld] text=a[i0,%d]", (long long)ts_shape(t)[0], i);
}

static ts_tensor formula(ts_graph *g, const char *text, int n, const ts_tensor *in)
{
    return maker_call(g, n, in, "formula text=\"%s\"", text);
}

/* x turned by the rotation vector r, as Rodrigues has it: x cos t + (w cross x) sin t + w (w . x) (1 - cos t), where t
 * is the length of r and w = r / t; x + r cross x where t is 0. r, x, out: three components, each [p]. */
static void turn(ts_graph *g, const ts_tensor *r, const ts_tensor *x, ts_tensor *out)
{
    ts_tensor square = formula(g, "a*a + b*b + c*c", 3, r);                                        /* [p] */
    ts_tensor theta = formula(g, "a == 0 ? 1.0 : sqrt(a)", 1, &square), w[3], way, part;           /* each [p] */
    ts_tensor cosine = formula(g, "a == 0 ? 1.0 : cos(b)", 2, (const ts_tensor[]){square, theta}); /* [p] */
    ts_tensor sine = formula(g, "a == 0 ? 1.0 : sin(b)", 2, (const ts_tensor[]){square, theta});   /* [p] */
    for (int i = 0; i < 3; i++)
        w[i] = ts_call2(g, "divide", r[i], theta); /* r itself where its length is 0 */
    part = formula(g, "(a*d + b*e + c*f) * (1 - g)", 7,
                   (const ts_tensor[]){w[0], w[1], w[2], x[0], x[1], x[2], cosine});
    for (int i = 0; i < 3; i++) {
        const int k = (i + 1) % 3, l = (i + 2) % 3;
        way = formula(g, "a*d - b*c", 4, (const ts_tensor[]){w[k], w[l], x[k], x[l]});
        out[i] = formula(g, "a*b + c*d + e*f", 6, (const ts_tensor[]){x[i], cosine, way, sine, w[i], part});
    }
}

/* Observation i sees point point_of[i] by camera camera_of[i]: where that leads less features[i], [p, 2]. A camera is
 * its rotation, its centre, focal length, two of the principal point, two of the distortion: columns, each [p]. */
static bool build(ts_model *m, ts_graph *g, ts_error *e)
{
    const int64_t n = ts_dim(m, "n"), points = ts_dim(m, "m"), p = ts_dim(m, "p");
    const ts_dtype real = objective_real(m, e);
    if (real == TS_N_DTYPE)
        return false;
    ts_tensor cameras = ts_input(g, "cameras", real, 2, (const int64_t[]){n, 11}); /* [n, 11] */
    ts_tensor x = ts_input(g, "points", real, 2, (const int64_t[]){points, 3});    /* [m, 3] */
    ts_tensor w = ts_input(g, "weights", real, 1, &p),
              feature = ts_input(g, "features", real, 2, (const int64_t[]){p, 2}); /* [p], [p, 2] */
    ts_tensor which[2] = {ts_input(g, "camera_of", TS_I64, 1, &p),
                          ts_input(g, "point_of", TS_I64, 1, &p)}; /* each [p] */
    ts_below(m, which[0], n), ts_below(m, which[1], points);
    ts_tensor own = ts_named(g, ts_call2(g, "gather", cameras, which[0]), "camera"); /* [p, 11] */
    ts_tensor at = ts_named(g, ts_call2(g, "gather", x, which[1]), "point");         /* [p, 3] */
    ts_tensor c[11], away[3], seen[3], error[2];                                     /* each [p] */
    for (int i = 0; i < 11; i++)
        c[i] = column(g, own, i);
    for (int i = 0; i < 3; i++)
        away[i] = ts_call2(g, "subtract", column(g, at, i), c[3 + i]);
    turn(g, c, away, seen);
    ts_tensor u = ts_call2(g, "divide", seen[0], seen[2]), v = ts_call2(g, "divide", seen[1], seen[2]); /* each [p] */
    ts_tensor square = formula(g, "a*a + b*b", 2, (const ts_tensor[]){u, v});                           /* [p] */
    ts_tensor scale = formula(g, "1 + b*a + c*a*a", 3, (const ts_tensor[]){square, c[9], c[10]});       /* [p] */
    for (int i = 0; i < 2; i++)
        error[i] = formula(g, "f * (a*b*c + d - e)", 6,
                           (const ts_tensor[]){i ? v : u, scale, c[6], c[7 + i], column(g, feature, i), w});
    ts_result(m, "errors", ts_call2(g, "stack axis=1", error[0], error[1]));
    ts_result(m, "weight_errors", formula(g, "1 - a*a", 1, &w));
    ts_result(m, "camera", own);
    ts_result(m, "point", at);
    return ts_graph_ok(g, e);
}

/* ---- its data: one camera, point, weight and feature, which all have; observation i is of camera i mod n and point i
 * mod m ---- */
static void spread_out(double *v, int64_t rows, int width, const double *mean, const double *spread)
{
    for (int64_t i = 0; i < rows * width; i++)
        v[i] = mean[i % width] + spread[i % width] * v[i];
}

static bool read(problem *p)
{
    static const double camera[2][11] = {{0.5, -0.3, 0.2, 0, 0, 0, 500, 0, 0, 0, 0},
                                         {0.2, 0.2, 0.2, 1, 1, 1, 50, 1, 1, 0.05, 0.05}};
    static const double point[2][3] = {{0, 0, 20}, {5, 5, 2}}, feature[2][2] = {{0, 0}, {100, 100}};
    const int64_t n = objective_size(p, "n", 1), m = objective_size(p, "m", 1), k = objective_size(p, "p", 1);
    if (k < 1)
        return false;
    double *c = objective_take(p, "cameras", (numbers){.spread = 1, .first = 11}, 2, (const int64_t[]){n, 11});
    double *x = objective_take(p, "points", (numbers){.spread = 1, .first = 3}, 2, (const int64_t[]){m, 3});
    double *w = objective_take(p, "weights", (numbers){.mean = 0.5, .spread = 0.5, .first = 1}, 1, &k);
    double *f = objective_take(p, "features", (numbers){.spread = 1, .first = 2}, 2, (const int64_t[]){k, 2});
    if (!c || !x || !w || !f || !objective_cycle(p, "camera_of", k, n) || !objective_cycle(p, "point_of", k, m))
        return false;
    if (!p->at) {
        spread_out(c, n, 11, camera[0], camera[1]), spread_out(x, m, 3, point[0], point[1]);
        spread_out(f, k, 2, feature[0], feature[1]);
    }
    return true;
}

/* ---- records ---- */
const ts_builder builders_ba[] = {{"adbench-ba", "Bundle adjustment, of ADBench", "n=3 m=20 p=60 bits=64", build}, {0}};

const objective objective_ba = {.name = "ba",
                                .brief = "errors of bundle adjustment, by cameras, points and weights",
                                .file = "n m p, one camera, one point, one weight, one feature",
                                .sizes = "n=49 m=7776 p=31843",
                                .sparse = true,
                                .n_value = 2,
                                .n_jacobian = 4,
                                .jacobian = {{0, 0, true, .row = 4, .output = 2},
                                             {0, 1, true, .row = 5, .output = 3},
                                             {0, 2, true, .row = 0},
                                             {1, 2, true, .row = 0}},
                                .read = read};
