/* recurrent.c - cells that run along time: few steps written out, many as a scan. What does not wait for the step
 * before, the product of all inputs with their weights, is one product. Texts of activations are formulas over a.
 * x [time, batch, in], w [gates * hidden, in], r [gates * hidden, hidden], b [2 * gates * hidden] (of w, then of r),
 * h0 and c0 [batch, hidden], p [3 * hidden] (peepholes, of i o f), and last, where sequences end early, their lengths
 * [batch]: after its end a sequence keeps its state, and its outputs are 0. */
#include "graph/ir/rule.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- helpers ---- */
typedef struct cell {
    graph *g;
    const node *n; /* the draft */
    int64_t time, batch, hidden;
    int gates;
    const node *x, *r, *rb; /* x: [time, batch, gates * hidden] with both biases; r: transposed; rb: of r, alone */
    const node *h, *c, *p;  /* states [batch, hidden]; p: weights of peepholes [3 * hidden] */
    const node *lengths;    /* [batch, 1], or NULL */
} cell;

static const node *gate(const cell *k, const node *all, int i) /* [batch, hidden] of [batch, gates * hidden] */
{
    return g_part(k->g, all, 1, i * k->hidden, k->hidden);
}

static const node *plus(const cell *k, const node *a, const node *b)
{
    return g_call2(k->g, "add", a, b);
}

static const node *times(const cell *k, const node *a, const node *b)
{
    return g_call2(k->g, "multiply", a, b);
}

/* The gate's value: clipped, then the formula that attribute `which` names. */
static const node *act(const cell *k, const char *which, const node *a)
{
    const double clip = node_real(k->n, "clip");
    if (clip > 0)
        a = g_formula(k->g, 1, &a, arena_format(&k->g->mem, "max(min(a,%.17g),-%.17g)", clip, clip));
    return g_formula(k->g, 1, &a, node_attr(k->n, which)->s);
}

static bool is(const node *x, int rank, int64_t a, int64_t b, int64_t c)
{
    const int64_t dim[] = {a, b, c};
    for (int i = 0; x->type.rank == rank && i < rank; i++)
        if (x->type.dim[i] != dim[i])
            return false;
    return x->type.rank == rank;
}

/* Checks all operands: n_state initial states and n_more after b, then perhaps lengths. */
static bool start(cell *k, graph *g, const node *n, int gates, int fixed)
{
    const node *const *in = n->in;
    if (n->n_in != fixed && n->n_in != fixed + 1)
        return g_fail(g, TS_BAD_INPUT, "%d operands given, takes %d or %d", n->n_in, fixed, fixed + 1), false;
    if (in[0]->type.rank != 3 || in[2]->type.rank != 2)
        return g_fail(g, TS_BAD_INPUT, "x has rank %d, not 3, or r has rank %d, not 2", in[0]->type.rank,
                      in[2]->type.rank),
               false;
    *k = (cell){.g = g, .n = n, .gates = gates, .h = in[4]};
    k->time = in[0]->type.dim[0], k->batch = in[0]->type.dim[1], k->hidden = in[2]->type.dim[1];
    /* w [rows, inputs], r [rows, hidden], b [2 * rows] */
    const int64_t rows = gates * k->hidden, inputs = in[0]->type.dim[2];
    const bool fits = is(in[1], 2, rows, inputs, 0) && is(in[2], 2, rows, k->hidden, 0) &&
                      is(in[3], 1, 2 * rows, 0, 0) && is(in[4], 2, k->batch, k->hidden, 0) &&
                      (fixed < 7 || (is(in[5], 2, k->batch, k->hidden, 0) && is(in[6], 1, 3 * k->hidden, 0, 0))) &&
                      (n->n_in == fixed || is(in[fixed], 1, k->batch, 0, 0));
    if (!fits)
        return g_fail(g, TS_BAD_INPUT,
                      "for %lld steps of a batch of %lld, %lld inputs, %lld hidden: w is [%lld, %lld], r [%lld, %lld], "
                      "b [%lld], states are [%lld, %lld]",
                      (long long)k->time, (long long)k->batch, (long long)inputs, (long long)k->hidden, (long long)rows,
                      (long long)inputs, (long long)rows, (long long)k->hidden, 2 * (long long)rows,
                      (long long)k->batch, (long long)k->hidden),
               false;
    k->r = g_call1(g, "transpose", in[2]), k->rb = g_part(g, in[3], 0, rows, rows); /* r [hidden, rows], rb [rows] */
    /* w [inputs, rows], bias [rows] */
    const node *w = g_call1(g, "transpose", in[1]), *bias = g_part(g, in[3], 0, 0, rows);
    if (!g_few_trips(g, k->time))
        /* a scan takes rows of it as they lie */
        k->x = plus(k, g_call2(g, "matmul", in[0], w), bias); /* [time, batch, rows] */
    else {
        /* one product of all steps: [time * batch, inputs] */
        const node *flat = g_reshape(g, in[0], 2, (int64_t[]){k->time * k->batch, inputs});
        k->x = plus(k, g_call2(g, "matmul", flat, w), bias);
        k->x = g_reshape(g, k->x, 3, (int64_t[]){k->time, k->batch, rows});
    }
    if (fixed >= 7)
        k->c = in[5], k->p = in[6];
    if (n->n_in > fixed)
        k->lengths = g_reshape(g, in[fixed], 2, (int64_t[]){k->batch, 1}); /* beside the states, [batch, 1] */
    return k->x != NULL;
}

/* next gives k's new state from its old one and the step's inputs [batch, gates * hidden]. */
typedef void next_state(const cell *k, const node *x, const node **h, const node **c);

typedef struct stepped { /* what a step gives */
    const node *out, *h, *c;
} stepped;

/* t: the step, as a scalar of the lengths' dtype; after its end a sequence keeps its state. */
static stepped step(const cell *k, next_state *next, const node *x, const node *t)
{
    graph *g = k->g;
    stepped s = {.h = k->h, .c = k->c};
    next(k, x, &s.h, &s.c);
    s.out = s.h;
    if (!k->lengths)
        return s;
    const node *on = g_call2(g, "less", t, k->lengths); /* [batch, 1]: the sequence has not ended */
    s.h = g_call3(g, "where", on, s.h, k->h), s.c = s.c ? g_call3(g, "where", on, s.c, k->c) : NULL;
    s.out = g_call3(g, "where", on, s.h, g_scalar_like(g, s.h, 0));
    return s;
}

/* Step after step; all outputs [time, batch, hidden], and k has the last state. */
static const node *write_out(cell *k, next_state *next)
{
    graph *g = k->g;
    const node **y = arena_array(&g->mem, (size_t)k->time + 1, sizeof *y);
    const bool reverse = node_int(k->n, "reverse");
    for (int64_t i = 0; i < k->time && !err_is(&g->err); i++) {
        const int64_t t = reverse ? k->time - 1 - i : i;
        /* [batch, gates * hidden] of this step */
        const node *x = g_reshape(g, g_part(g, k->x, 0, t, 1), 2, (int64_t[]){k->batch, k->gates * k->hidden});
        const stepped s = step(k, next, x, k->lengths ? g_scalar_like(g, k->lengths, (double)t) : NULL);
        k->h = s.h, k->c = s.c;
        y[t] = g_reshape(g, s.out, 3, (int64_t[]){1, k->batch, k->hidden}); /* a row of the result */
    }
    return err_is(&g->err) ? NULL : g_joined(g, k->time, y, 0);
}

/* The same as a scan. */
static const node *scan(cell *k, next_state *next)
{
    graph *g = k->g;
    const bool reverse = node_int(k->n, "reverse");
    ts_scan *by = ts_scan_begin(g, k->time);
    cell in = *k;
    in.h = ts_scan_state(by, k->h), in.c = k->c ? ts_scan_state(by, k->c) : NULL;
    /* x [batch, gates * hidden] of the trip */
    const node *x = ts_scan_slice(by, k->x, reverse), *t = NULL, *out[3] = {0};
    if (k->lengths) /* trip numbers of a reversed walk count down from an end that a run may set */
        t = reverse ? ts_scan_slice(by, g_callf(g, 0, NULL, "iota count=%lld", (long long)k->time), true)
                    : ts_scan_trip(by);
    const stepped s = step(&in, next, x, k->lengths ? g_cast(g, t, k->lengths->type.dtype) : NULL);
    ts_scan_step(by, in.h, s.h);
    if (k->c)
        ts_scan_step(by, in.c, s.c);
    ts_scan_gather(by, s.out, reverse); /* [time, batch, hidden] */
    if (!ts_scan_end(by, out))
        return NULL;
    k->h = out[0], k->c = k->c ? out[1] : NULL;
    return out[k->c ? 2 : 1]; /* states come first, then what was gathered */
}

static const node *run(cell *k, next_state *next)
{
    graph *g = k->g;
    const node *end[3]; /* [time, batch, hidden], [1, batch, hidden] of each state */
    int n = 0;
    if (k->time && !(end[n++] = g_few_trips(g, k->time) ? write_out(k, next) : scan(k, next)))
        return NULL;
    end[n++] = g_reshape(g, k->h, 3, (int64_t[]){1, k->batch, k->hidden});
    if (k->c)
        end[n++] = g_reshape(g, k->c, 3, (int64_t[]){1, k->batch, k->hidden});
    /* [time + 1 or 2, batch, hidden]: all outputs, then the last states, which without steps are the first ones */
    return n > 1 ? g_call(g, "concat axis=0", n, end) : end[0];
}

/* ---- ONNX ---- */
typedef struct layer { /* one operator of the file */
    const onnx_call *c;
    int gates, n_act;
    int64_t hidden, time, batch;
    bool by_batch; /* layout 1: batch before time */
    dtype dtype;
} layer;

static const struct activation {
    const char *name, *text; /* a formula, where A and B stand for alpha and beta */
    int takes;               /* 1: alpha, 2: beta too */
    double alpha, beta;
} activations[] = {{"sigmoid", "1/(1+exp(-a))", 0, 0, 0},
                   {"tanh", "tanh(a)", 0, 0, 0},
                   {"relu", "max(a,0)", 0, 0, 0},
                   {"affine", "A*a+B", 2, 1, 0},
                   {"leakyrelu", "select(lt(a,0),A*a,a)", 1, 0.01, 0},
                   {"thresholdedrelu", "select(lt(A,a),a,0*a)", 1, 1, 0},
                   {"scaledtanh", "A*tanh(B*a)", 2, 1, 1},
                   {"hardsigmoid", "min(max(A*a+B,0),1)", 2, 0.2, 0.5},
                   {"elu", "select(lt(a,0),A*expm1(min(a,0)),a)", 1, 1, 0},
                   {"softsign", "a/(1+abs(a))", 0, 0, 0},
                   {"softplus", "max(a,0)+log1p(exp(min(-a,a)))", 0, 0, 0}};

static const struct activation *activation(const onnx_call *c, const char *name, err *e)
{
    ENDED_BY(text_free) text known = {0};
    for (int i = 0; i < COUNT(activations); i++)
        if (!strcasecmp(activations[i].name, name))
            return &activations[i];
        else
            text_add(&known, "%s%s", i ? ", " : "", activations[i].name);
    err_set(e, TS_UNSUPPORTED, "%s: activation \"%.40s\", one of %s expected", c->type, name, text_str(&known));
    return NULL;
}

static const char *line_of(const attr *a, int i, char out[32]) /* text i of a list; "" where there is none */
{
    const char *s = a && a->kind == 'S' && i < a->n ? a->s : NULL;
    while (s && i-- > 0)
        s = strchr(s, '\n') + 1;
    snprintf(out, 32, "%.*s", s ? (int)strcspn(s, "\n") : 0, s ? s : "");
    return out;
}

/* Activation i of direction d as a formula. Alphas and betas are listed for those that take them, in their order. */
static bool act_text(const layer *l, int d, int i, char out[160], err *e)
{
    const struct activation *is = NULL;
    const attr *listed = onnx_attr(l->c, "activations"), *alphas = onnx_attr(l->c, "activation_alpha"),
               *betas = onnx_attr(l->c, "activation_beta");
    char name[32];
    double alpha = 1, beta = 0;
    size_t n = 0;
    for (int k = 0, at_alpha = 0, at_beta = 0; k <= d * l->n_act + i; k++) {
        line_of(listed, k, name);
        if (!(is = activation(l->c, *name ? name : i == 0 && l->gates > 1 ? "Sigmoid" : "Tanh", e)))
            return false;
        alpha = is->takes && alphas && at_alpha < alphas->n ? alphas->reals[at_alpha] : is->alpha;
        beta = is->takes > 1 && betas && at_beta < betas->n ? betas->reals[at_beta] : is->beta;
        at_alpha += is->takes > 0, at_beta += is->takes > 1;
    }
    for (const char *s = is->text; *s && n < 120; s++)
        if (*s == 'A' || *s == 'B')
            n += (size_t)snprintf(out + n, 160 - n, "(%.9g)", *s == 'A' ? alpha : beta);
        else
            out[n++] = *s;
    return out[n] = 0, true;
}

/* Of operand i its part d along the axis of directions, of these extents; zeros where the file leaves it out. */
static const node *direction_of(const layer *l, int i, int d, int axis, int rank, const int64_t *dim)
{
    const node *x = onnx_in(l->c, i);
    type t = {.dtype = l->dtype, .rank = rank};
    memcpy(t.dim, dim, (size_t)rank * sizeof *dim);
    if (!x)
        return g_filled(l->c->g, &t, 0);
    if (x->type.rank != rank + 1 || d >= x->type.dim[axis])
        return g_fail(l->c->g, TS_BAD_INPUT, "operand %d has rank %d, expected %d and a part for each direction", i + 1,
                      x->type.rank, rank + 1);
    return g_reshape(l->c->g, g_part(l->c->g, x, axis, d, 1), rank, t.dim);
}

static const node *direction(const layer *l, const node *x, int d, bool reverse, err *e)
{
    graph *g = l->c->g;
    char formula[3][160] = {"", "", ""};
    const int64_t rows = l->gates * l->hidden, state[] = {l->batch, l->hidden};
    const int by = l->by_batch ? 1 : 0;
    const char *const which[] = {"f", "g", "h"};
    attr list[8] = {attr_int("reverse", reverse), attr_real("clip", onnx_real(l->c, "clip", 0))};
    const node *in[8] = {x, direction_of(l, 1, d, 0, 2, (int64_t[]){rows, x->type.dim[2]}),
                         direction_of(l, 2, d, 0, 2, (int64_t[]){rows, l->hidden}),
                         direction_of(l, 3, d, 0, 1, (int64_t[]){2 * rows}), direction_of(l, 5, d, by, 2, state)};
    int n_in = 5, n = 2;
    for (int i = 0; i < l->n_act; i++) {
        if (!act_text(l, d, i, formula[i], e))
            return NULL;
        list[n++] = attr_word(which[i], formula[i]);
    }
    if (l->gates == 3)
        list[n++] = attr_int("linear_before_reset", onnx_int(l->c, "linear_before_reset", 0));
    if (l->gates == 4) {
        in[n_in++] = direction_of(l, 6, d, by, 2, state);
        in[n_in++] = direction_of(l, 7, d, 0, 1, (int64_t[]){3 * l->hidden});
        list[n++] = attr_int("couple", onnx_int(l->c, "input_forget", 0));
    }
    if (onnx_in(l->c, 4))
        in[n_in++] = onnx_in(l->c, 4);
    return g_make(g, l->c->op, n_in, in, list, n);
}

/* Output i: all outputs [time, direction, batch, hidden], or [batch, time, direction, hidden]; or the last of a state
 * [direction, batch, hidden], or [batch, direction, hidden]. */
static const node *output(const layer *l, int i, int n_folder, const node *const *y)
{
    graph *g = l->c->g;
    const node *all[2];
    for (int d = 0; d < n_folder; d++) {
        const node *x = i ? g_part(g, y[d], 0, l->time + i - 1, 1) : g_part(g, y[d], 0, 0, l->time);
        all[d] = i ? x : g_reshape(g, x, 4, (int64_t[]){l->time, 1, l->batch, l->hidden});
    }
    const node *x = n_folder == 1 ? all[0] : g_callf(g, 2, all, "concat axis=%d", i ? 0 : 1);
    if (!l->by_batch || !x)
        return x;
    return g_call1(g, i ? "transpose axes=[1,0,2]" : "transpose axes=[2,0,1,3]", x);
}

static bool adapt(const onnx_call *c, const node **out, err *e)
{
    const char *kind = c->op->name;
    const int gates = !strcmp(kind, "rnn") ? 1 : !strcmp(kind, "gru") ? 3 : 4, n_act = gates > 1 ? gates - 1 : 1;
    const char *way = onnx_word(c, "direction", "forward");
    const bool both = !strcmp(way, "bidirectional"), reverse = !strcmp(way, "reverse");
    layer l = {.c = c, .gates = gates, .n_act = n_act, .by_batch = onnx_int(c, "layout", 0)};
    const node *y[2], *x;
    if (!both && !reverse && strcmp(way, "forward"))
        return err_set(e, TS_BAD_INPUT, "%s: direction \"%s\" is none of forward, reverse, bidirectional", c->type,
                       way);
    if (c->in[0]->type.rank != 3 || c->in[2]->type.rank != 3)
        return operands_refuse(3, c->in, e,
                               "X [time, batch, in], W [direction, gates, in] and R [direction, gates, hidden]");
    x = l.by_batch ? g_call1(c->g, "transpose axes=[1,0,2]", c->in[0]) : c->in[0];
    l.time = x->type.dim[0], l.batch = x->type.dim[1], l.hidden = c->in[2]->type.dim[2], l.dtype = x->type.dtype;
    if (onnx_int(c, "hidden_size", l.hidden) != l.hidden)
        return err_set(e, TS_BAD_INPUT, "%s: hidden_size is %lld, R is of %lld", c->type,
                       (long long)onnx_int(c, "hidden_size", 0), (long long)l.hidden);
    if (!onnx_lengths(c, 4, 0, l.time, e))
        return false;
    for (int d = 0; d <= both; d++)
        if (!(y[d] = direction(&l, x, d, both ? d : reverse, e)))
            return onnx_give(c, out, NULL, e);
    for (int i = 0; i < c->n_out && i < (gates == 4 ? 3 : 2); i++)
        if (!onnx_give(c, out + i, output(&l, i, both + 1, y), e))
            return false;
    return true;
}

/* ---- recipes ---- */
/* One step: x [batch, gates * hidden] is what the input and its bias give all gates, h and c [batch, hidden] are before
 * and after. Weights r [hidden, gates * hidden], biases rb [gates * hidden], peepholes p [3 * hidden]. */
static void rnn_next(const cell *k, const node *x, const node **h, const node **c)
{
    (void)c;
    *h = act(k, "f", plus(k, plus(k, x, g_call2(k->g, "matmul", *h, k->r)), k->rb));
}

/* Gates z r h; all that has a name [batch, hidden], but zr [batch, 2 * hidden], rh [hidden, hidden] and bh [hidden]. */
static void gru_next(const cell *k, const node *x, const node **h, const node **c)
{
    graph *g = k->g;
    const node *was = *h, *candidate, *zr = g_call2(g, "matmul", was, g_part(g, k->r, 1, 0, 2 * k->hidden));
    (void)c;
    zr = plus(k, g_part(g, x, 1, 0, 2 * k->hidden), plus(k, zr, g_part(g, k->rb, 0, 0, 2 * k->hidden)));
    const node *z = act(k, "f", gate(k, zr, 0)), *r = act(k, "f", gate(k, zr, 1));
    const node *rh = g_part(g, k->r, 1, 2 * k->hidden, k->hidden), *bh = g_part(g, k->rb, 0, 2 * k->hidden, k->hidden);
    if (node_int(k->n, "linear_before_reset"))
        candidate = times(k, r, plus(k, g_call2(g, "matmul", was, rh), bh));
    else
        candidate = plus(k, g_call2(g, "matmul", times(k, r, was), rh), bh);
    candidate = act(k, "g", plus(k, gate(k, x, 2), candidate));
    *h = g_formula(g, NODES(z, candidate, was), "(1-a)*b+a*c");
}

/* Gates i o f c, [batch, hidden] each; all [batch, 4 * hidden], peep [hidden]. */
static void lstm_next(const cell *k, const node *x, const node **h, const node **c)
{
    graph *g = k->g;
    const node *all = plus(k, plus(k, x, g_call2(g, "matmul", *h, k->r)), k->rb), *was = *c;
    const node *peep[3];
    for (int i = 0; i < 3; i++)
        peep[i] = g_part(g, k->p, 0, i * k->hidden, k->hidden);
    const node *i = act(k, "f", plus(k, gate(k, all, 0), times(k, peep[0], was)));
    const node *f = node_int(k->n, "couple") ? g_formula(g, 1, &i, "1-a")
                                             : act(k, "f", plus(k, gate(k, all, 2), times(k, peep[2], was)));
    const node *update = act(k, "g", gate(k, all, 3));
    *c = g_formula(g, NODES(f, was, i, update), "a*b+c*d");
    const node *o = act(k, "f", plus(k, gate(k, all, 1), times(k, peep[1], *c)));
    *h = times(k, o, g_formula(g, 1, c, node_attr(k->n, "h")->s));
}

static const node *lower(graph *g, const node *n)
{
    static const struct {
        const char *name;
        int gates, operands; /* without lengths */
        next_state *next;
    } cells[] = {{"rnn", 1, 5, rnn_next}, {"gru", 3, 5, gru_next}, {"lstm", 4, 7, lstm_next}};
    cell k;
    const int i = ROW_NAMED(cells, n->op->name);
    return start(&k, g, n, cells[i].gates, cells[i].operands) ? run(&k, cells[i].next) : NULL;
}

/* ---- records ---- */
#define SIGMOID "1/(1+exp(-a))"

const op ops_recurrent[] = {
    RECIPE("rnn ... reverse:i=0 clip:f=0 f:s=tanh(a) -> t b h", lower, "recurrent('rnn', x, reverse, clip, [f])", NULL,
           "f32[4,3,5] f32[6,5] f32[6,6] f32[12] f32[3,6]\nf64[3,1,2] f64[4,2] f64[4,4] f64[8] f64[1,4] reverse=1 "
           "f=max(a,0)\nf32[5,3,2] f32[2,2] f32[2,2] f32[4] f32[3,2] i32[3]<5 clip=0.5\n"
           "f32[20,3,2] f32[2,2] f32[2,2] f32[4] f32[3,2] i32[3]<20 reverse=1\n"
           "f32[0,3,5] f32[6,5] f32[6,6] f32[12] f32[3,6]",
           "States of a simple recurrent layer: [time, batch, hidden], and, at time, the last one once more.",
           .adapted = ADAPTED(
               {"RNN 1 FFFFiF 3..6 >2 activation_alpha activation_beta activations clip direction hidden_size "
                "layout output_sequence",
                adapt}),
           .onnx_undefined =
               "RNN: Lengths that are constant are 0 to the number of steps. Of others, one below 0 is 0, one "
               "beyond the end is the whole sequence.",
           .onnx_cases = "RNN f32[3,2,4] f32[1,5,4] f32[1,5,5] hidden_size=5"),
    RECIPE("gru ... reverse:i=0 clip:f=0 f:s=" SIGMOID " g:s=tanh(a) linear_before_reset:i=0 -> t b h", lower,
           "recurrent('gru', x, reverse, clip, [f, g], linear_before_reset)", NULL,
           "f32[4,3,5] f32[18,5] f32[18,6] f32[36] f32[3,6]\nf64[3,1,2] f64[12,2] f64[12,4] f64[24] f64[1,4] "
           "reverse=1 linear_before_reset=1\nf32[5,3,2] f32[6,2] f32[6,2] f32[12] f32[3,2] i64[3]<5 clip=1\n"
           "f32[20,3,2] f32[6,2] f32[6,2] f32[12] f32[3,2] i64[3]<20 clip=1\n"
           "f32[0,3,5] f32[18,5] f32[18,6] f32[36] f32[3,6] reverse=1",
           "States of a layer of gated recurrent units, z r h: [time, batch, hidden], and the last one once more.",
           .adapted = ADAPTED(
               {"GRU 1 FFFFiF 3..6 >2 activation_alpha activation_beta activations clip direction hidden_size "
                "layout linear_before_reset output_sequence",
                adapt}),
           .onnx_undefined = "GRU: As of RNN.", .onnx_cases = "GRU f32[3,2,4] f32[1,15,4] f32[1,15,5] hidden_size=5"),
    RECIPE("lstm ... reverse:i=0 clip:f=0 f:s=" SIGMOID " g:s=tanh(a) h:s=tanh(a) couple:i=0 -> t b h", lower,
           "recurrent('lstm', x, reverse, clip, [f, g, h], couple)", NULL,
           "f32[4,3,5] f32[24,5] f32[24,6] f32[48] f32[3,6] f32[3,6] f32[18]\nf64[3,1,2] f64[16,2] f64[16,4] f64[32] "
           "f64[1,4] f64[1,4] f64[12] reverse=1 couple=1\nf32[5,3,2] f32[8,2] f32[8,2] f32[16] f32[3,2] f32[3,2] "
           "f32[6] i64[3]<5 clip=1\nf32[70,1,2] f32[8,2] f32[8,2] f32[16] f32[1,2] f32[1,2] f32[6] reverse=1\n"
           "f32[0,3,5] f32[24,5] f32[24,6] f32[48] f32[3,6] f32[3,6] f32[18]",
           "States of a layer of long short-term memory, i o f c: [time, batch, hidden], then the last state and the "
           "last cell.",
           .adapted = ADAPTED({"LSTM 1 FFFFiF 3..8 >3 activation_alpha activation_beta activations clip direction "
                               "hidden_size input_forget layout output_sequence",
                               adapt}),
           .onnx_undefined = "LSTM: As of RNN.", .onnx_cases = "LSTM f32[3,2,4] f32[1,20,4] f32[1,20,5] hidden_size=5"),
    {0},
};
