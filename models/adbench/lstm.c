/* lstm.c - the LSTM of ADBench, whose weights are vectors: l layers over c characters of b bits. Of a layer forget and
 * output gate see what comes in, input gate and change what the layer gave before. The loss is the mean of minus the
 * logarithm of what was foretold of the next character's bits, log(2 + sum exp) as ADBench has it. */
#include "models/adbench/objective.h"
#include "models/parts/maker.h"

#include <stdio.h>

enum { MAX_LAYER = 16 };

/* Row `row` of t [rows, b] */
static ts_tensor row_of(ts_graph *g, ts_tensor t, int64_t row)
{
    return maker_call(g, 1, &t, "element dims=[%lld] text=a[%lld,i0]", (long long)ts_shape(t)[1], (long long)row);
}

/* Row `row` of t [rows, 4 b] as [4, b] */
static ts_tensor gates(ts_graph *g, ts_tensor t, int64_t row, int64_t b)
{
    ts_tensor one = row_of(g, t, row); /* [4 b] */
    return maker_call(g, 1, &one, "reshape shape=[4,%lld]", (long long)b);
}

/* Rows from `first` on, all but one */
static ts_tensor rows_of(ts_graph *g, ts_tensor t, int first)
{
    return maker_call(g, 1, &t, "element dims=[%lld,%lld] text=a[i0+%d,i1]", (long long)ts_shape(t)[0] - 1,
                      (long long)ts_shape(t)[1], first);
}

/* One layer in one trip: states h and c [b] from x [b] and the former ones; weights w and biases v, [4, b] each. Forget
 * and output gate go by x, input gate and change by h. Gates are 1 / (1 + exp(-x)) = (1 + tanh(x / 2)) / 2, so that
 * there is one function for all four. */
static void layer(ts_graph *g, ts_tensor x, ts_tensor w, ts_tensor v, ts_tensor *h, ts_tensor *c)
{
    const ts_tensor by[] = {x, *h, x, *h};                             /* each [b] */
    const ts_tensor all[] = {ts_call(g, "stack axis=0", 4, by), w, v}; /* each [4, b] */
    const int64_t b = ts_shape(x)[0];
    ts_tensor gate = maker_call(g, 3, all,
                                "element dims=[4,%lld] text=\"i0 < 3 ? 0.5 * (a[i0,i1] * b[i0,i1] + c[i0,i1]) : "
                                "a[i0,i1] * b[i0,i1] + c[i0,i1]\"",
                                (long long)b);
    ts_tensor t = ts_call1(g, "tanh", gate); /* of forget, input, output, change; [4, b] */
    *c = maker_call(g, 2, (const ts_tensor[]){*c, t},
                    "element dims=[%lld] text=0.5*(a[i0]*(1+b[0,i0])+(1+b[1,i0])*b[3,i0])", (long long)b);
    *h = maker_call(g, 2, (const ts_tensor[]){ts_call1(g, "tanh", *c), t},
                    "element dims=[%lld] text=0.5*(1+b[2,i0])*a[i0]", (long long)b);
}

static bool build(ts_model *m, ts_graph *g, ts_error *e)
{
    const int64_t l = ts_dim(m, "l"), c = ts_dim(m, "c"), b = ts_dim(m, "b");
    if (l > MAX_LAYER || c < 2) {
        e->code = TS_USAGE;
        snprintf(e->text, sizeof e->text,
                 "adbench-lstm: l is %lld and c %lld, 1 to %d layers and 2 or more characters expected", (long long)l,
                 (long long)c, MAX_LAYER);
        return false;
    }
    const ts_dtype real = objective_real(m, e);
    if (real == TS_N_DTYPE)
        return false;
    ts_tensor main_ = ts_input(g, "main", real, 2, (const int64_t[]){2 * l, 4 * b});         /* [2 l, 4 b] */
    ts_tensor extra = ts_input(g, "extra", real, 2, (const int64_t[]){3, b});                /* [3, b] */
    ts_tensor state = ts_input(g, "state", real, 2, (const int64_t[]){2 * l, b});            /* [2 l, b] */
    ts_tensor bits = ts_input(g, "sequence", real, 2, (const int64_t[]){c, b});              /* [c, b] */
    ts_tensor x = ts_call2(g, "formula text=a*b", rows_of(g, bits, 0), row_of(g, extra, 0)); /* [c - 1, b] */
    ts_tensor h[2 * MAX_LAYER], next[2 * MAX_LAYER], out[2 * MAX_LAYER + 1]; /* each [b]; of out, the last [c - 1, b] */
    ts_scan *s = ts_scan_begin(g, c - 1);
    ts_tensor at = ts_scan_slice(s, x, false); /* [b] */
    for (int64_t i = 0; i < 2 * l; i++)
        next[i] = h[i] = ts_scan_state(s, row_of(g, state, i));
    for (int64_t i = 0; i < l; i++) {
        layer(g, at, gates(g, main_, 2 * i, b), gates(g, main_, 2 * i + 1, b), &next[2 * i], &next[2 * i + 1]);
        at = next[2 * i];
    }
    for (int64_t i = 0; i < 2 * l; i++)
        ts_scan_step(s, h[i], next[i]);
    ts_scan_gather(s, at, false);
    ts_scan_end(s, out);
    const ts_tensor last[] = {out[2 * l], row_of(g, extra, 1), row_of(g, extra, 2)}; /* [c - 1, b], [b], [b] */
    ts_tensor y = ts_call(g, "formula text=\"a * b + c\"", 3, last);                 /* [c - 1, b] */
    ts_tensor sum = ts_call1(g, "sum axes=[-1] keepdims=1", ts_call1(g, "exp", y));  /* [c - 1, 1] */
    const ts_tensor told[] = {rows_of(g, bits, 1), y, sum}; /* [c - 1, b], twice, and [c - 1, 1] */
    ts_tensor all = ts_call1(g, "sum", ts_call(g, "formula text=\"a * (b - log(2 + c))\"", 3, told)); /* [] */
    ts_result(m, "objective", maker_call(g, 1, &all, "formula text=\"-a / %lld\"", (long long)((c - 1) * b)));
    return ts_graph_ok(g, e);
}

/* ---- its data ---- */
static bool read(problem *p)
{
    const int64_t l = objective_size(p, "l", 1), c = objective_size(p, "c", 2), b = objective_size(p, "b", 1);
    const numbers share = {.mean = 0.5, .spread = 0.5};
    if (b < 1 || !objective_take(p, "main", share, 2, (const int64_t[]){2 * l, 4 * b}) ||
        !objective_take(p, "extra", share, 2, (const int64_t[]){3, b}) ||
        !objective_take(p, "state", share, 2, (const int64_t[]){2 * l, b}))
        return false;
    double *bits = objective_take(p, "sequence", share, 2, (const int64_t[]){c, b});
    for (int64_t i = 0; bits && !p->at && i < c * b; i++)
        bits[i] = bits[i] < 0.5;
    return bits != NULL;
}

/* ---- records ---- */
const ts_builder builders_lstm[] = {
    {"adbench-lstm", "An LSTM with vectors for weights, of ADBench", "l=2 c=8 b=14 bits=64", build}, {0}};

const objective objective_lstm = {
    .name = "lstm",
    .brief = "loss of an LSTM with vectors for weights over a text, by its parameters",
    .file = "l c b, weights and biases of each layer, 3 rows of the output's, states, bits of each character",
    .sizes = "l=2 c=1024 b=14",
    .n_value = 1,
    .n_gradient = 2,
    .read = read};
