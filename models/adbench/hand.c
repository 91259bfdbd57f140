/* hand.c - tracking a hand, of ADBench: n points are held against vertices of a mesh that 22 bones move. 26 angles and
 * places pose them: a rotation vector and a translation of the whole hand, and for each of five fingers two angles of
 * the first joint and one of each of two more. A vertex goes with several bones, by weights. With `us` each point lies
 * within a triangle of vertices instead, at two places of its own, which are variables too. In f64. */
#include "models/adbench/objective.h"
#include "models/parts/maker.h"

#include <math.h>
#include <string.h>

enum { BONES = 22, THETA = 26, FINGERS = 5, JOINTS = 3, CELLS = 16 };

/* Elements first, first + 4, ... of theta, one for each finger */
static ts_tensor angle(ts_graph *g, ts_tensor theta, int first)
{
    return maker_call(g, 1, &theta, "element dims=[%d] text=a[%d+4*i0]", FINGERS, first);
}

/* The rotations of all joints, [fingers, joints, 4, 4]: about z, for which the first joint alone has an angle, after
 * that about x */
static ts_tensor joints(ts_graph *g, ts_tensor theta)
{
    ts_tensor z0 = angle(g, theta, 7);                                                     /* [fingers] */
    ts_tensor none = ts_call1(g, "formula text=a*0", z0);                                  /* [fingers] */
    const ts_tensor by_x[] = {angle(g, theta, 6), angle(g, theta, 8), angle(g, theta, 9)}; /* each [fingers] */
    const ts_tensor by_z[] = {z0, none, none};                                             /* each [fingers] */
    ts_tensor x = ts_call(g, "stack axis=1", JOINTS, by_x);                                /* [fingers, joints] */
    ts_tensor z = ts_call(g, "stack axis=1", JOINTS, by_z);                                /* [fingers, joints] */
    ts_tensor sx = ts_call1(g, "sin", x), cx = ts_call1(g, "cos", x);                      /* [fingers, joints] */
    ts_tensor sz = ts_call1(g, "sin", z), cz = ts_call1(g, "cos", z);                      /* [fingers, joints] */
    ts_tensor o = ts_call1(g, "formula text=a*0", x);   /* [fingers, joints], zeros */
    ts_tensor l = ts_call1(g, "formula text=a*0+1", o); /* [fingers, joints], ones */
    const ts_tensor cell[CELLS] = {cz,                  /* each [fingers, joints] */
                                   ts_call2(g, "formula text=-a*b", sz, cx),
                                   ts_call2(g, "formula text=a*b", sz, sx),
                                   o,
                                   sz,
                                   ts_call2(g, "formula text=a*b", cz, cx),
                                   ts_call2(g, "formula text=-a*b", cz, sx),
                                   o,
                                   o,
                                   sx,
                                   cx,
                                   o,
                                   o,
                                   o,
                                   o,
                                   l};
    return ts_call1(g, "reshape shape=[5,3,4,4]", ts_call(g, "stack axis=2", CELLS, cell));
}

/* The whole hand: rotation by a vector as Rodrigues has it, none below a length of 1e-4, and translation, [3, 4]. Of w,
 * the vector through its length t, the former is cos t I + (1 - cos t) w w' + sin t [w x]. */
static ts_tensor whole(ts_graph *g, ts_tensor theta)
{
    ts_tensor v = ts_call1(g, "element dims=[3] text=a[i0]", theta); /* [3] */
    ts_tensor t = ts_call1(g, "formula text=\"a < 1e-8 ? 0.0 : sqrt(a)\"",
                           ts_call1(g, "element dims=[] folds=[3] text=a[i0]*a[i0]", v)); /* [] */
    const ts_tensor in[] = {ts_call2(g, "formula text=\"b == 0 ? 0.0 : a / b\"", v, t), ts_call1(g, "cos", t),
                            ts_call1(g, "sin", t)}; /* [3], [], [] */
    const ts_tensor part[] = {
        ts_call(g,
                "element dims=[3,3] text=\"i0 == i1 ? a[i0]*a[i0] + (1 - a[i0]*a[i0])*b : a[i0]*a[i1]*(1 - b) + "
                "((i1 - i0 + 3) % 3 == 1 ? -a[(6 - i0 - i1) % 3] : a[(6 - i0 - i1) % 3])*c\"",
                3, in),
        ts_call1(g, "element dims=[3,1] text=a[3+i0]", theta)}; /* [3, 3], [3, 1] */
    return ts_call(g, "concat axis=1", 2, part);
}

/* What takes vertices to where theta has them within the hand: of four bones of each finger, [5, 4, 4, 4], and of bones
 * 0, the palm, from which fingers go on, and 21, which no angle moves, [2, 4, 4] */
static ts_tensor fingers(ts_graph *g, ts_tensor theta, ts_tensor base, ts_tensor inverse)
{
    ts_tensor root = ts_call1(g, "element dims=[4,4] text=a[0,i0,i1]", base); /* [4, 4] */
    ts_tensor own = ts_call2(g, "matmul", ts_call1(g, "element dims=[5,3,4,4] text=a[2+4*i0+i1,i2,i3]", base),
                             joints(g, theta)); /* [5, 3, 4, 4] */
    ts_tensor at[1 + JOINTS];                   /* each [5, 4, 4] */
    at[0] = ts_call2(g, "matmul", root, ts_call1(g, "element dims=[5,4,4] text=a[1+4*i0,i1,i2]", base));
    for (int i = 0; i < JOINTS; i++) {
        ts_tensor joint = maker_call(g, 1, &own, "element dims=[5,4,4] text=a[i0,%d,i1,i2]", i); /* [5, 4, 4] */
        at[1 + i] = ts_call2(g, "matmul", at[i], joint);
    }
    return ts_call2(g, "matmul", ts_call(g, "stack axis=1", 1 + JOINTS, at),
                    ts_call1(g, "element dims=[5,4,4,4] text=a[1+4*i0+i1,i2,i3]", inverse));
}

static ts_tensor rest(ts_graph *g, ts_tensor base, ts_tensor inverse)
{
    ts_tensor root = ts_call1(g, "element dims=[4,4] text=a[0,i0,i1]", base); /* [4, 4] */
    const ts_tensor at[] = {
        root, ts_call2(g, "matmul", root, ts_call1(g, "element dims=[4,4] text=a[21,i0,i1]", base))}; /* each [4, 4] */
    return ts_call2(g, "matmul", ts_call(g, "stack axis=0", 2, at),
                    ts_call1(g, "element dims=[2,4,4] text=a[21*i0,i1,i2]", inverse));
}

/* Columns of the weights, [n, 22] or of three vertices each [n, 3, 22]: those of fingers' bones [..., 5, 4], of the
 * other two [..., 2] */
static ts_tensor columns(ts_graph *g, ts_tensor w, bool us, bool of_fingers)
{
    return maker_call(g, 1, &w, "element dims=[%lld,%s%s] text=a[i0,%s]", (long long)ts_shape(w)[0], us ? "3," : "",
                      of_fingers ? "5,4" : "2",
                      of_fingers ? (us ? "i1,1+4*i2+i3" : "1+4*i1+i2") : (us ? "i1,21*i2" : "21*i1"));
}

/* Where the bones take x, each by its weight: [n, 4]. With u, [n, 3], that of places within triangles, by what each
 * corner counts there. */
static ts_tensor skinned(ts_graph *g, ts_tensor u, ts_tensor w, ts_tensor x, ts_tensor bones, ts_tensor others)
{
    /* weights [n, 5, 4] and [n, 2], x [n, 4]; with u [n, 3] each with an axis [3] behind n */
    const ts_tensor moved[] = {u, columns(g, w, u, true), x}, kept[] = {u, columns(g, w, u, false), x, others};
    ts_tensor by_finger = u ? ts_call(g, "einsum equation=nc,ncfj,nck->fnjk", 3, moved)
                            : ts_call(g, "einsum equation=nfj,nk->fnjk", 2, moved + 1); /* [f, n, j, 4] */
    return ts_call2(g, "add", ts_call2(g, "einsum equation=fnjk,fjrk->nr", by_finger, bones),
                    u ? ts_call(g, "einsum equation=nc,ncb,nck,brk->nr", 4, kept)
                      : ts_call(g, "einsum equation=nb,nk,brk->nr", 3, kept + 1));
}

static bool build_hand(ts_model *m, ts_graph *g, bool us, ts_error *e)
{
    const int64_t n = ts_dim(m, "n"), v = ts_dim(m, "v");
    const int64_t theta_dim = THETA, bones[] = {BONES, 4, 4};
    const ts_dtype real = objective_real(m, e);
    if (real == TS_N_DTYPE)
        return false;
    ts_tensor u = us ? ts_input(g, "us", real, 2, (const int64_t[]){n, 2}) : NULL; /* [n, 2] */
    ts_tensor theta = ts_input(g, "theta", real, 1, &theta_dim);                   /* [26] */
    ts_tensor of = ts_input(g, "correspondences", TS_I64, 1, &n);                  /* [n] */
    ts_tensor points = ts_input(g, "points", real, 2, (const int64_t[]){n, 3});    /* [n, 3] */
    if (us) {
        const int64_t t = ts_dim(m, "t");
        ts_tensor triangles = ts_input(g, "triangles", TS_I64, 2, (const int64_t[]){t, 3}); /* [t, 3] */
        ts_below(m, of, t), ts_below(m, triangles, v);
        of = ts_call2(g, "gather", triangles, of); /* [n, 3] */
    } else {
        ts_below(m, of, v);
    }
    ts_tensor base = ts_input(g, "bones", real, 3, bones),
              inverse = ts_input(g, "inverse_bones", real, 3, bones); /* both [22, 4, 4] */
    ts_tensor x = ts_call2(g, "gather", ts_input(g, "vertices", real, 2, (const int64_t[]){v, 4}),
                           of); /* [n, 4], or [n, 3, 4] within triangles */
    ts_tensor w = ts_call2(g, "gather", ts_input(g, "weights", real, 2, (const int64_t[]){v, BONES}),
                           of); /* [n, 22], or [n, 3, 22] within triangles */
    if (us)
        u = maker_call(g, 1, &u, "element dims=[%lld,3] text=\"i1 < 2 ? a[i0,i1] : 1 - a[i0,0] - a[i0,1]\"",
                       (long long)n);                                                            /* [n, 3] */
    ts_tensor y = skinned(g, u, w, x, fingers(g, theta, base, inverse), rest(g, base, inverse)); /* [n, 4] */
    y = maker_call(g, 2, (const ts_tensor[]){whole(g, theta), y},
                   "element dims=[%lld,3] text=a[i1,0]*b[i0,0]+a[i1,1]*b[i0,1]+a[i1,2]*b[i0,2]+a[i1,3]*b[i0,3]",
                   (long long)n); /* [n, 3] */
    ts_result(m, "errors", ts_call2(g, "subtract", points, y));
    return ts_graph_ok(g, e);
}

static bool build(ts_model *m, ts_graph *g, ts_error *e)
{
    return build_hand(m, g, false, e);
}

static bool build_us(ts_model *m, ts_graph *g, ts_error *e)
{
    return build_hand(m, g, true, e);
}

/* ---- its data ---- */
/* c = a b of affine 4 x 4 matrices, which may be c */
static void multiply(const double *a, const double *b, double *c)
{
    double out[CELLS];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            out[i * 4 + j] = 0;
            for (int k = 0; k < 4; k++)
                out[i * 4 + j] += a[i * 4 + k] * b[k * 4 + j];
        }
    memcpy(c, out, sizeof out);
}

/* The bone from which another one goes on: the palm, or the one before along the finger */
static int parent(int bone)
{
    return bone == 0 ? -1 : bone == BONES - 1 || bone % 4 == 1 ? 0 : bone - 1;
}

/* Of random numbers in -1 ... 1 a turn about z by up to 0.3, and a way to go: along y, for a finger's first bone
 * sideways as well */
static void make_bones(double *base, double *inverse)
{
    double at[BONES][CELLS];
    for (int b = 0; b < BONES; b++) {
        double *m = base + b * CELLS;
        const double t = b ? 0.3 * m[0] : 0, c = cos(t), s = sin(t);
        const double side = b % 4 == 1 ? 0.4 * (b / 4 - 2) : 0.1 * m[1];
        const double made[CELLS] = {c, -s, 0, b ? side : 0, s, c, 0, b ? 1 + 0.2 * m[2] : 0,
                                    0, 0,  1, 0.1 * m[3],   0, 0, 0, 1};
        memcpy(m, made, sizeof made);
        if (parent(b) < 0)
            memcpy(at[b], m, sizeof made);
        else
            multiply(at[parent(b)], m, at[b]);
        double *back = inverse + b * CELLS;
        memset(back, 0, sizeof made);
        for (int i = 0; i < 3; i++) /* the transposed rotation, and the translation by it, backwards */
            for (int j = 0; j < 3; j++)
                back[i * 4 + j] = at[b][j * 4 + i], back[i * 4 + 3] -= at[b][j * 4 + i] * at[b][j * 4 + 3];
        back[15] = 1;
    }
}

/* Vertex i lies at bone i mod 22, and goes with it and the next one. */
static void make_skin(double *vertex, double *weight, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const int64_t bone = i % BONES, next = (bone + 1) % BONES;
        const double share = 0.25 * (1 + weight[i * BONES]);
        vertex[i * 4 + 1] += (double)(bone % 4), vertex[i * 4 + 3] = 1;
        memset(weight + i * BONES, 0, BONES * sizeof *weight);
        weight[i * BONES + bone] = 1 - share, weight[i * BONES + next] = share;
    }
}

static bool read_hand(problem *p, bool us)
{
    const int64_t n = objective_size(p, "n", 1), v = objective_size(p, "v", 1), t = us ? objective_size(p, "t", 1) : v;
    const int64_t theta = THETA, bones[] = {BONES, 4, 4};
    const numbers any = {.spread = 1};
    if (n < 1 || v < 1 || t < 1)
        return false;
    if (us)
        objective_take(p, "us", (numbers){.mean = 0.3, .spread = 0.2}, 2, (const int64_t[]){n, 2});
    objective_take(p, "theta", (numbers){.spread = 0.5}, 1, &theta);
    objective_take(p, "correspondences", (numbers){.below = t}, 1, &n);
    objective_take(p, "points", (numbers){.normal = true, .spread = 1}, 2, (const int64_t[]){n, 3});
    if (us)
        objective_take(p, "triangles", (numbers){.below = v}, 2, (const int64_t[]){t, 3});
    double *base = objective_take(p, "bones", any, 3, bones),
           *inverse = objective_take(p, "inverse_bones", any, 3, bones);
    double *vertex = objective_take(p, "vertices", (numbers){.spread = 0.3}, 2, (const int64_t[]){v, 4});
    double *weight = objective_take(p, "weights", any, 2, (const int64_t[]){v, BONES});
    if (base && inverse && vertex && weight && !p->at)
        make_bones(base, inverse), make_skin(vertex, weight, v);
    return weight != NULL;
}

static bool read(problem *p)
{
    return read_hand(p, false);
}

static bool read_us(problem *p)
{
    return read_hand(p, true);
}

/* ---- records ---- */
const ts_builder builders_hand[] = {
    {"adbench-hand", "Tracking a hand by vertices, of ADBench", "n=20 v=66 bits=64", build},
    {"adbench-hand-us", "Tracking a hand by places within triangles, of ADBench", "n=20 v=66 t=64 bits=64", build_us},
    {0}};

const objective objective_hand = {
    .name = "hand",
    .brief = "distances of points from a posed hand's vertices, by its pose",
    .file =
        "n v, 26 pose parameters, a vertex and a place of each point, 22 bones relative to their parents, inverses of "
        "the absolute ones, vertices, weights",
    .sizes = "n=100 v=544",
    .n_value = 1,
    .n_jacobian = 1,
    .jacobian = {{0}},
    .read = read};

const objective objective_hand_us = {
    .name = "hand-us",
    .brief = "the same by places within triangles, which are variables too",
    .file =
        "n v t, two numbers a point, 26 pose parameters, a triangle and a place of each point, triangles, and on as "
        "for hand",
    .sizes = "n=100 v=544 t=1084",
    .n_value = 1,
    .n_jacobian = 2,
    .jacobian = {{0, 0, true, .row = 0}, {0, 1, .row = 0}},
    .read = read_us};
