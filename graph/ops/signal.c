/* signal.c - windows, Fourier transforms and mel scales. Complex numbers are pairs along the last axis. */
#include "graph/ir/rule.h"

#include <math.h>
#include <string.h>

static const double turn = 6.283185307179586477;

/* ---- helpers ---- */
typedef struct plan_of_dft {
    int axis;
    int64_t length, in, out; /* of the transform; elements that are read, and that the result has */
    bool inverse, half, real, real_out;
} plan_of_dft;

static bool read_dft(const node *n, plan_of_dft *p, err *e)
{
    const type *t = &n->in[0]->type;
    *p = (plan_of_dft){.inverse = node_int(n, "inverse"), .half = node_int(n, "onesided")};
    if (!attr_axis(n, "axis", t->rank, &p->axis, e))
        return false;
    const int64_t pair = t->dim[t->rank - 1];
    p->real = pair == 1;
    if (p->axis == t->rank - 1 || (pair != 1 && pair != 2) || dtype_class(t->dtype) != D_REAL)
        return operands_refuse(1, n->in, e,
                               "[..., 1] or [..., 2] of reals, to be transformed along another axis than the "
                               "last, axis %d,",
                               p->axis);
    p->length = node_attr(n, "length")->kind == 'i' ? node_int(n, "length") : t->dim[p->axis];
    p->real_out = p->half && p->inverse;
    if (p->length < 1 || p->length > 1 << 24 || (p->half && p->real == p->inverse))
        return err_set(e, TS_BAD_INPUT,
                       "length %lld, onesided=%d, inverse=%d of %s numbers; a length of 1 to 2^24 expected, and one "
                       "side of reals, or back to them",
                       (long long)p->length, p->half, p->inverse, p->real ? "real" : "complex");
    p->in = t->dim[p->axis] < p->length ? t->dim[p->axis] : p->length;
    p->out = p->half && !p->inverse ? p->length / 2 + 1 : p->length;
    return true;
}

/* The cosine and sine of 2 pi i / n: [n, 2] */
static const node *turns(graph *g, dtype d, int64_t n)
{
    const type t = {.dtype = d, .rank = 2, .dim = {n, 2}};
    char *bytes = arena_array(&g->mem, (size_t)n * 2 + 1, 8);
    for (int64_t i = 0; i < n; i++) {
        store_real(d, bytes, 2 * i, cos(turn * (double)i / (double)n));
        store_real(d, bytes, 2 * i + 1, sin(turn * (double)i / (double)n));
    }
    return g_const(g, NULL, &t, bytes);
}

/* ---- ONNX ---- */
static bool adapt_window(const onnx_call *c, const node **out, err *e)
{
    static const double hann[] = {0.5, 0.5, 0}, hamming[] = {25.0 / 46, 21.0 / 46, 0}, blackman[] = {0.42, 0.5, 0.08};
    const double *a = !strcmp(c->type, "HannWindow") ? hann : !strcmp(c->type, "HammingWindow") ? hamming : blackman;
    double size = 0;
    dtype to;
    if (!onnx_number(c, 0, &size, e) || !onnx_dtype(onnx_int(c, "output_datatype", 1), &to, e))
        return false;
    if (!(size >= 0 && size < 0x1p31))
        return err_set(e, TS_BAD_INPUT, "%s: size %g, expected 0 to 2^31 - 1", c->type, size);
    const attr count = attr_int("count", (int64_t)size);
    const node *y = onnx_made(c, 0, NULL,
                              ATTRS(count, attr_real("a", a[0]), attr_real("b", a[1]), attr_real("c", a[2]),
                                    attr_word("to", "f64"))); /* [size] */
    return onnx_give(c, out, g_cast(c->g, y, to), e);
}

/* x [..., 1 or 2]. The axis: an attribute before version 20 (1), since then operand 2 (-2). Its length: operand 1, or
 * as it is. */
static bool adapt_dft(const onnx_call *c, const node **out, err *e)
{
    double axis = (double)onnx_int(c, "axis", c->version < 20 ? 1 : -2), length = -1;
    int at;
    if (!onnx_number(c, 1, &length, e) || !onnx_number(c, 2, &axis, e) ||
        !axis_norm((int64_t)axis, c->in[0]->type.rank, &at, e))
        return false;
    const bool half = onnx_int(c, "onesided", 0), back = onnx_int(c, "inverse", 0);
    const int64_t dim = c->in[0]->type.dim[at];
    if (length < 0)
        length = (double)(half && back ? 2 * (dim - 1) : dim);
    if (!(length >= 1 && length < 0x1p31))
        return err_set(e, TS_BAD_INPUT, "DFT: length %g, expected 1 to 2^31 - 1", length);
    const node *y = onnx_made(c, 1, c->in, ATTRS(attr_int("axis", at), attr_int("length", (int64_t)length)));
    return onnx_give(c, out, y, e);
}

/* Frames of the signal x [batch, time, 1 or 2], or [batch, time] of reals, `step` apart, times the window, each
 * transformed -> [batch, frames, n or n / 2 + 1, 2] */
static bool adapt_stft(const onnx_call *c, const node **out, err *e)
{
    double step = 0, length = -1;
    if (!onnx_number(c, 1, &step, e) || !onnx_number(c, 3, &length, e))
        return false;
    graph *g = c->g;
    const node *x = c->in[0], *window = onnx_in(c, 2); /* [batch, time, 1 or 2], [n] */
    if (x->type.rank == 2)
        x = g_call1(g, "expand_dims axes=[2]", x);
    if (length < 0)
        length = window ? (double)type_count(&window->type) : x->type.rank > 1 ? (double)x->type.dim[1] : 0;
    if (x->type.rank != 3 || !(step >= 1) || !(length >= 1) || (double)x->type.dim[1] < length)
        return err_set(
            e, TS_BAD_INPUT,
            "STFT: frames of %g, %g apart, of a signal of rank %d: rank 2 or 3 and frames of 1 to its length expected",
            length, step, x->type.rank);
    const int64_t n = (int64_t)length, pace = (int64_t)step, frames = (x->type.dim[1] - n) / pace + 1;
    const node *start = g_scaled(g, g_count(g, frames, TS_I64), (double)pace); /* [frames] */
    /* [frames, n] */
    const node *place = g_call2(g, "add", g_reshape(g, start, 2, (int64_t[]){frames, 1}), g_count(g, n, TS_I64));
    const node *frame = g_call2(g, "gather axis=1", x, place); /* [batch, frames, n, 1 or 2] */
    if (window)
        frame = g_call2(g, "multiply", frame, g_reshape(g, window, 2, (int64_t[]){type_count(&window->type), 1}));
    frame = g_callf(g, 1, &frame, "dft axis=2 length=%lld onesided=%lld", (long long)n,
                    (long long)onnx_int(c, "onesided", 1));
    return onnx_give(c, out, frame, e);
}

static bool adapt_mel(const onnx_call *c, const node **out, err *e)
{
    double v[5] = {0};
    dtype to;
    if (!onnx_dtype(onnx_int(c, "output_datatype", 1), &to, e))
        return false;
    for (int i = 0; i < 5; i++)
        if (!onnx_number(c, i, &v[i], e))
            return false;
    const node *y = g_callf(c->g, 0, NULL, "mel_weights bins=%lld length=%lld rate=%lld low=%.17g high=%.17g",
                            (long long)v[0], (long long)v[1], (long long)v[2], v[3], v[4]); /* [length / 2 + 1, bins] */
    return onnx_give(c, out, g_cast(c->g, y, to), e);
}

/* ---- shape ---- */
static bool cosine_shape(const node *n, type *out, err *e)
{
    *out = (type){.rank = 1, .dim = {node_int(n, "count")}};
    return attr_real_dtype(n, &out->dtype, e);
}

static bool fourier_shape(const node *n, type *out, err *e)
{
    plan_of_dft p;
    const type *table = &n->in[1]->type;
    *out = n->in[0]->type;
    if (out->rank < 2 || !read_dft(n, &p, e))
        return operands_refuse(1, n->in, e, "[..., time, 1 or 2]");
    if (table->rank != 2 || table->dim[0] != p.length || table->dim[1] != 2)
        return operands_refuse(2, n->in, e, "as the second the cosines and sines [%lld, 2]", (long long)p.length);
    out->dim[p.axis] = p.out, out->dim[out->rank - 1] = p.real_out ? 1 : 2;
    out->dtype = dtype_promote(out->dtype, table->dtype);
    return true;
}

/* ---- body ---- */
/* y[i] = a - b cos(2 pi i / n) + c cos(4 pi i / n), where n is the count, or one less if the ends are to be equal */
static const expr *cosine_body(defn *d)
{
    arena *mem = d->mem;
    const int64_t count = node_int(d->node, "count"), n = node_int(d->node, "periodic") ? count : count - 1;
    const expr *at = x2(mem, "mul", x_cast(mem, TS_F64, x_axis(mem, 0)), x_real(mem, turn / (double)(n > 0 ? n : 1)));
    return x_said(mem, "a - b * cos(at) + c * cos(2 * at)", "at", at, "a", x_real(mem, node_real(d->node, "a")), "b",
                  x_real(mem, node_real(d->node, "b")), "c", x_real(mem, node_real(d->node, "c")), NULL);
}

/* y[k] = sum over n of x[n] * exp(-2 pi i k n / N), or with the other sign and divided by N. A half spectrum stands for
 * x[N - n] = conjugate of x[n] too: these are counted twice. */
static const expr *fourier_body(defn *d)
{
    arena *mem = d->mem;
    const int last = d->node->type.rank - 1;
    const dtype to = d->node->type.dtype;
    const expr *sub[MAX_RANK], *x[2], *w[2];
    plan_of_dft p;
    if (!read_dft(d->node, &p, d->err))
        return NULL;
    const int fold = defn_fold(d, p.in);
    const expr *n = x_axis(mem, fold), *length = x_whole(mem, p.length);
    const expr *at = x2(mem, "mod", x2(mem, "mul", x_axis(mem, p.axis), n), length);
    for (int i = 0; i <= last; i++)
        sub[i] = x_axis(mem, i);
    sub[p.axis] = n;
    for (int i = 0; i < 2; i++) {
        sub[last] = x_whole(mem, i);
        x[i] = i && p.real ? x_real(mem, 0) : x_cast(mem, to, defn_at(d, 0, sub));
        w[i] = defn_at(d, 1, (const expr *const[]){at, x_whole(mem, i)});
    }
    const expr *real = x_said(mem, p.inverse ? "p * c - q * s" : "p * c + q * s", "p", x[0], "q", x[1], "c", w[0], "s",
                              w[1], NULL);
    const expr *other = x_said(mem, p.inverse ? "q * c + p * s" : "q * c - p * s", "p", x[0], "q", x[1], "c", w[0], "s",
                               w[1], NULL);
    const expr *sum = p.real_out ? real
                                 : x3(mem, "select", x2(mem, "eq", x_axis(mem, last), x_whole(mem, 0)), real, other);
    if (p.real_out) { /* only the first, and of an even length the one in the middle, have no partner */
        sum = x_said(mem, "sum * (length < n * 2 ? 0.0 : n == 0 || n * 2 == length ? 1.0 : 2.0)", "sum", sum, "n", n,
                     "length", length, NULL);
    }
    d->value = x_fold(mem, "add", 1u << fold, sum);
    if (p.inverse)
        return x2(mem, "mul", d->value, x_real(mem, 1 / (double)p.length));
    return d->value;
}

/* ---- recipes ---- */
/* x [..., 1 or 2] and the table of turns [length, 2] */
static const node *dft_lower(graph *g, const node *n)
{
    plan_of_dft p;
    if (n->in[0]->type.rank < 2)
        return g_refuse(g, 1, n->in, "[..., time, 1 or 2]");
    if (!read_dft(n, &p, &g->err))
        return NULL;
    const node *x = n->in[0], *table = turns(g, x->type.dtype == TS_F64 ? TS_F64 : TS_F32, p.length);
    return g_cast(g, g_apply_n(g, "fourier_sum", NODES(x, table), 4, n->attr), x->type.dtype);
}

enum { MOST_MEL = 1 << 24 }; /* weights, made while the graph is built */
static double hertz(double mel)
{
    return 700 * (pow(10, mel / 2595) - 1);
}

/* Triangles between neighbouring edges, which lie evenly on the mel scale and on whole numbers of the spectrum:
 * [rows, bins], a row for each of the length / 2 + 1 frequencies. */
static const node *mel_lower(graph *g, const node *n)
{
    const int64_t bins = node_int(n, "bins"), length = node_int(n, "length"), rate = node_int(n, "rate");
    const double low = 2595 * log10(1 + node_real(n, "low") / 700), high = 2595 * log10(1 + node_real(n, "high") / 700);
    const int64_t rows = length / 2 + 1;
    if (bins < 1 || length < 1 || rate < 1 || bins > 1 << 16 || length > 1 << 20 || !isfinite(low) || !isfinite(high))
        return g_fail(g, TS_BAD_INPUT,
                      "%lld bins of a transform of length %lld at rate %lld from %g to %g; 1 to 2^16, 1 to 2^20, 1 or "
                      "more and finite ones expected",
                      (long long)bins, (long long)length, (long long)rate, node_real(n, "low"), node_real(n, "high"));
    if (rows * bins > MOST_MEL)
        return g_fail(g, TS_MEMORY, "%lld bins of %lld frequencies: %lld weights, at most %d expected", (long long)bins,
                      (long long)rows, (long long)(rows * bins), MOST_MEL),
               err_hint(&g->err, "no option raises this: fewer bins or a shorter transform"), NULL;
    const type t = {.dtype = TS_F64, .rank = 2, .dim = {rows, bins}};
    double *y = arena_array(&g->mem, (size_t)(rows * bins) + 1, sizeof *y);
    for (int64_t b = 0; b < bins; b++) {
        double edge[3]; /* whole, and as far beyond the spectrum as the frequencies given */
        for (int i = 0; i < 3; i++)
            edge[i] = floor((double)(length + 1) * hertz(low + (double)(b + i) * (high - low) / (double)(bins + 2)) /
                            (double)rate);
        for (int64_t i = edge[0] > 0 ? edge[0] < (double)rows ? (int64_t)edge[0] : rows : 0;
             i < rows && (double)i <= edge[2]; i++) {
            const double at = (double)i, up = edge[1] > edge[0] ? (at - edge[0]) / (edge[1] - edge[0]) : 1,
                         down = edge[2] > edge[1] ? (edge[2] - at) / (edge[2] - edge[1]) : 0;
            y[i * bins + b] = at < edge[1] ? up : at == edge[1] ? 1 : down;
        }
    }
    return g_const(g, NULL, &t, y);
}

/* ---- records ---- */
#define TRANSFORM "axis:i=-2 length:i= inverse:i=0 onesided:i=0"

const op ops_signal[] = {
    BODY("cosine_window count:i periodic:i=1 a:f=0.5 b:f=0.5 c:f=0 to:s=f32 -> e", cosine_body,
         "(lambda t: a - b * np.cos(t) + c * np.cos(2 * t))(2 * np.pi * np.arange(count) / max(1, count - (not "
         "periodic))).astype(dtypes[to])",
         NULL, "count=10\ncount=9 periodic=0\ncount=8 a=0.42 c=0.08 to=f64\ncount=0\ncount=1 periodic=0",
         "a - b cos + c cos of the double angle over one turn: Hann, Hamming, Blackman windows.",
         .adapted = ADAPTED({"HannWindow 17 i 1 output_datatype periodic", adapt_window},
                            {"HammingWindow 17 i 1 output_datatype periodic", adapt_window},
                            {"BlackmanWindow 17 i 1 output_datatype periodic", adapt_window}),
         .onnx_undefined = "HannWindow: One element that is not periodic is the window's start.\nHammingWindow: As of "
                           "HannWindow.\nBlackmanWindow: As of HannWindow.",
         .onnx_cases = "BlackmanWindow i64[]=8\nHammingWindow i64[]=8\nHannWindow i64[]=8", .shape = cosine_shape),
    BODY("fourier_sum a b " TRANSFORM " -> r | c", fourier_body,
         "fourier_sum(a, b, axis, length or a.shape[axis], inverse, onesided)", NULL,
         "f64[3,5,2] f64[5,2] axis=1\nf32[3,5,1] f32[4,2] length=4 onesided=1\nf64[4,2] f64[6,2] axis=0 length=6 "
         "inverse=1",
         "The sums of a discrete Fourier transform, with a table of cosines and sines.", .shape = fourier_shape),
    RECIPE("dft a " TRANSFORM " -> r | c", dft_lower, "dft(a, axis, length, inverse, onesided)", NULL,
           "f32[2,10,1]\nf64[2,7,2]\nf64[2,8,2] inverse=1\nf32[2,10,1] onesided=1\nf64[2,7,1] onesided=1\n"
           "f64[2,9,1] length=6 onesided=1\nf64[2,3,4,2] axis=1 length=5\nf64[4,3,2] axis=0 inverse=1\n"
           "f64[2,5,2] inverse=1 onesided=1 length=8\nf64[2,5,2] inverse=1 onesided=1 length=9\n"
           "f32[2,4,2] inverse=1 onesided=1 length=12",
           "Discrete Fourier transform along an axis, cut or filled with zeros to a length; one side of it for reals.",
           .adapted = ADAPTED({"DFT 17 fi 1..3 axis inverse onesided", adapt_dft},
                              {"STFT 17 FiFi 2..4 onesided", adapt_stft}),
           .onnx_cases = "STFT f32[1,16,1] i64[]=4 f32[8]"),
    RECIPE("mel_weights bins:i length:i rate:i low:f high:f", mel_lower, "mel_weights(bins, length, rate, low, high)",
           NULL, "bins=8 length=16 rate=8192 low=0 high=4096\nbins=20 length=400 rate=16000 low=20 high=7600",
           "Triangles that sum a spectrum over bands which are even on the mel scale.",
           .adapted = ADAPTED({"MelWeightMatrix 17 IIIf 5 output_datatype", adapt_mel}),
           .onnx_cases = "MelWeightMatrix i64[]=8 i64[]=16 i64[]=8000 f32[]=0 f32[]=4000"),
    {0},
};
