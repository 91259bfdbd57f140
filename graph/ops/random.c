/* random.c - random numbers from a seed: element i of a tensor is a pure function of seed and i, the same bits on every
 * back end (base/random.h). */
#include "graph/ir/rule.h"

#include <math.h>
#include <string.h>

/* ---- ONNX ---- */
/* The seed where the file gives none: different for each call, including unnamed nodes and repeated passes of a loop,
 * and the same in every run. */
static int64_t seed_of(const onnx_call *c)
{
    const double given = onnx_real(c, "seed", 0);
    return onnx_attr(c, "seed") ? (int64_t)(quick_hash(&given, sizeof given, 0) >> 1) : g_own(c->g);
}

static bool dtype_said(const onnx_call *c, type *t, err *e)
{
    return !onnx_attr(c, "dtype") || onnx_dtype(onnx_int(c, "dtype", 1), &t->dtype, e);
}

static bool shape_like(const onnx_call *c, type *t, err *e)
{
    *t = c->in[0]->type;
    return dtype_said(c, t, e);
}

/* The type is that of the operand, where it has one, or said. */
static bool adapt_numbers(const onnx_call *c, const node **out, err *e)
{
    const bool normal = !strcmp(c->op->name, "random_normal");
    type own = {.dtype = TS_F32}, *t = &own;
    if (c->n_in ? !shape_like(c, t, e)
                : !onnx_ints(c, "shape", -1, t->dim, MAX_RANK, &t->rank, e) || !dtype_said(c, t, e))
        return false;
    attr list[] = {attr_ints("shape", t->rank, t->dim), attr_int("seed", seed_of(c)), attr_word("to", "f64")};
    graph *g = c->g;
    /* as t */
    const node *u = onnx_made(c, 0, c->in, COUNT(list), list);
    const double a = onnx_real(c, normal ? "mean" : "low", 0), b = onnx_real(c, normal ? "scale" : "high", 1);
    u = g_call2(g, "multiply", u, g_scalar(g, TS_F64, normal ? b : b - a));
    return onnx_give(c, out, g_cast(g, g_call2(g, "add", u, g_scalar(g, TS_F64, a)), t->dtype), e);
}

static const node *uniform(const onnx_call *c, int rank, const int64_t *shape)
{
    const int64_t seed = seed_of(c);
    return g_apply_n(c->g, "random_uniform", 0, NULL, ATTRS(attr_ints("shape", rank, shape), attr_int("seed", seed)));
}

static bool adapt_bernoulli(const onnx_call *c, const node **out, err *e)
{
    type t;
    if (!shape_like(c, &t, e))
        return false;
    const node *yes = g_call2(c->g, "less", uniform(c, t.rank, t.dim), c->in[0]); /* as in[0] */
    return onnx_give(c, out, g_cast(c->g, yes, t.dtype), e);
}

/* Classes drawn by their log-probabilities: the largest of these plus noise of Gumbel's distribution. */
static bool adapt_multinomial(const onnx_call *c, const node **out, err *e)
{
    dtype to = TS_I32;
    if ((onnx_attr(c, "dtype") && !onnx_dtype(onnx_int(c, "dtype", 6), &to, e)))
        return false;
    graph *g = c->g;
    const node *x = c->in[0]; /* [batch, class] */
    const int64_t count = onnx_int(c, "sample_size", 1);
    if (x->type.rank != 2 || count < 1 || x->type.dim[1] < 1)
        return err_set(e, TS_BAD_INPUT,
                       "Multinomial: %lld samples of weights of rank %d, at least 1 of [batch, class] expected",
                       (long long)count, x->type.rank);
    const int64_t shape[] = {x->type.dim[0], count, x->type.dim[1]};
    const node *u = uniform(c, 3, shape);
    u = g_call2(g, "maximum", u, g_scalar_like(g, u, 1e-30)); /* [batch, count, class] */
    const node *noise = g_call1(g, "negative", g_call1(g, "log", g_call1(g, "negative", g_call1(g, "log", u))));
    const node *score = g_call2(g, "add", noise, g_call1(g, "expand_dims axes=[1]", x)); /* [batch, count, class] */
    return onnx_give(c, out, g_cast(g, g_call1(g, "argmax axis=2", score), to), e);
}

/* ---- shape ---- */
static bool random_shape(const node *n, type *out, err *e)
{
    const attr *shape = node_attr(n, "shape");
    if (shape->n > MAX_RANK)
        return err_set(e, TS_BAD_INPUT, "shape: %d extents, at most %d expected", shape->n, MAX_RANK);
    *out = (type){.rank = shape->n};
    for (int i = 0; i < shape->n; i++)
        out->dim[i] = shape->ints[i];
    return attr_real_dtype(n, &out->dtype, e);
}

static bool dropout_shape(const node *n, type *out, err *e)
{
    const type *seed = &n->in[1]->type;
    const double rate = node_real(n, "rate");
    *out = n->in[0]->type;
    if (dtype_class(out->dtype) != D_REAL)
        return err_set(e, TS_BAD_INPUT, "values are of dtype %s, reals expected", ts_dtype_name(out->dtype));
    if ((seed->rank && (seed->rank != 1 || seed->dim[0] != 2)) || dtype_class(seed->dtype) != D_WHOLE)
        return operands_refuse(2, n->in, e, "as the second the seed, an integer without axes, or two: seed and part,");
    return (rate >= 0 && rate < 1) || err_set(e, TS_BAD_INPUT, "rate: %g, 0 or more and below 1 expected", rate);
}

/* ---- body ---- */
/* A number in [0, 1): the top bits of the random word for a seed and a place, as many as a real of d holds exactly. */
static const expr *unit(arena *mem, const expr *seed, const expr *place, dtype d)
{
    const int bits = d == TS_F64 ? 53 : 24;
    return x_said(mem, "f64(bitand(shr(threefry(seed, place), 64 - bits), most)) * step", "seed", seed, "place", place,
                  "bits", x_whole(mem, bits), "most", x_whole(mem, (int64_t)(UINT64_MAX >> (64 - bits))), "step",
                  x_real(mem, ldexp(1, -bits)), NULL);
}

/* The key of one of a call's two streams of random numbers. */
static const expr *stream(const defn *d, int64_t which)
{
    return x_whole(d->mem, (int64_t)((uint64_t)node_int(d->node, "seed") * 2 + (uint64_t)which));
}

static const expr *number(const defn *d)
{
    const type *t = &d->node->type;
    const expr *at = x_whole(d->mem, 0);
    for (int i = 0; i < t->rank; i++)
        at = x2(d->mem, "add", x_offset(d->mem, at, t->dim[i], 0), x_axis(d->mem, i));
    return x_cast(d->mem, TS_I64, at);
}

static const expr *uniform_body(defn *d)
{
    return unit(d->mem, stream(d, 0), number(d), d->node->type.dtype);
}

/* sqrt(-2 log(1 - u)) cos(2 pi v) of two uniform numbers */
static const expr *normal_body(defn *d)
{
    const expr *at = number(d);
    const expr *u = unit(d->mem, stream(d, 0), at, TS_F64), *v = unit(d->mem, stream(d, 1), at, TS_F64);
    return x_said(d->mem, "sqrt(-2 * log1p(-u)) * cos(6.283185307179586 * v)", "u", u, "v", v, NULL);
}

/* Element i stays where unit(seed + salt * odd number, part * elements + i) >= rate. */
static const expr *dropout_body(defn *d)
{
    arena *mem = d->mem;
    const double rate = node_real(d->node, "rate");
    const uint64_t salt = (uint64_t)node_int(d->node, "salt") * 0xD1B54A32D192ED03u;
    const expr *zero = x_whole(mem, 0), *one = x_whole(mem, 1), *place = number(d);
    if (d->node->in[1]->type.rank)
        place = x_said(mem, "part * n + i", "part", x_cast(mem, TS_I64, defn_at(d, 1, &one)), "n",
                       x_whole(mem, type_count(&d->node->type)), "i", place, NULL);
    const expr *seed = x2(mem, "add", x_cast(mem, TS_I64, defn_at(d, 1, &zero)), x_whole(mem, (int64_t)salt));
    return x_said(mem, "u < rate ? 0 : x * more", "u", unit(mem, seed, place, TS_F32), "rate", x_real(mem, rate), "x",
                  defn_in(d, 0), "more", x_real(mem, 1 / (1 - rate)), NULL);
}

/* ---- grad ---- */
static const node *dropout_grad(graph *g, const node *call, const node *y, const node *dy, int k)
{
    (void)y;
    return k ? NULL : g_make(g, call->op, NODES(dy, call->in[1]), call->attr, 2);
}

/* ---- records ---- */
#define ATTRIBUTES "shape:I seed:i=own to:s=f32"

const op ops_random[] = {
    BODY("random_uniform " ATTRIBUTES " -> e", uniform_body,
         "random_unit(shape, 2 * seed, 53 if to == 'f64' else 24).astype(dtypes[to])", NULL,
         "shape=[4,5] seed=0\nshape=[4,5] seed=7\nshape=[3] seed=-9 to=f64\nshape=[] seed=0\n"
         "shape=[0,2] seed=0\nshape=[9] seed=0 to=f16",
         "Numbers in [0, 1), each a function of the seed and its place.",
         .adapted = ADAPTED({"RandomUniform 1 - 0 dtype high low seed shape", adapt_numbers},
                            {"RandomUniformLike 1 - 1 dtype high low seed", adapt_numbers},
                            {"Bernoulli 15 f 1 dtype seed", adapt_bernoulli},
                            {"Multinomial 7 f 1 dtype sample_size seed", adapt_multinomial}),
         .onnx_cases = "Bernoulli f32[3]\nMultinomial f32[2,3]\nRandomUniformLike f32[3]", .shape = random_shape),
    BODY("random_normal " ATTRIBUTES " -> e", normal_body,
         "(np.sqrt(-2 * np.log1p(-random_unit(shape, 2 * seed, 53))) * np.cos(2 * np.pi * random_unit(shape, 2 * "
         "seed + 1, 53))).astype(dtypes[to])",
         NULL, "shape=[4,5] seed=0\nshape=[4,5] seed=7 to=f64\nshape=[] seed=0\nshape=[0,2] seed=0",
         "Normal numbers of mean 0 and variance 1, each a function of the seed and its place.",
         .adapted = ADAPTED({"RandomNormal 1 - 0 dtype mean scale seed shape", adapt_numbers},
                            {"RandomNormalLike 1 - 1 dtype mean scale seed", adapt_numbers}),
         .onnx_cases = "RandomNormalLike f32[3]", .shape = random_shape),
    BODY("random_dropout a b rate:f=0.1 salt:i=0 -> e", dropout_body,
         "np.where(random_unit(a.shape, (int(b.flat[0]) + salt * 0xD1B54A32D192ED03) % 2**64, 24, b.flat[1] if b.ndim "
         "else 0) < rate, 0, a * (1 / (1 - rate))).astype(a.dtype)",
         NULL,
         "f32[40,5] i64[]\nf64[30] i32[] rate=0.5 salt=3\nf32[2,3,4] u8[] rate=0 salt=-1\nf32[0,2] i64[]\n"
         "f32[40,5] i64[2]",
         "The first tensor with elements set to 0 with probability `rate`, the others divided by 1 - rate: a "
         "function of the second, a seed that each step changes, of `salt`, which tells layers apart, and of place. "
         "Behind a seed, its second element says which of equal parts, end to end, the tensor is.",
         .shape = dropout_shape, .grad = dropout_grad),
    {0},
};
