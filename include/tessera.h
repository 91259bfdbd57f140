/* tessera.h - the public interface of Tessera, a model runner that shows and steers its schedule.
 *
 * A graph of immutable tensors says what is wanted; building one computes nothing. A model is a graph with named inputs
 * and outputs, from a built-in name, an ONNX file or a JSON graph. A plan is a model scheduled for a target under a
 * tiling schema; it explains itself as JSON, generates C, and runs. A target is what a plan is made for: the name of
 * the back end that serves it ("c", "interp", ...), on the machine that is there or that a line of text describes.
 *
 * Errors: functions that can fail take a ts_error, return false or NULL, and keep the first failure. Code is also the
 * exit code that the command would end with. The library never prints, never exits, and installs no signal handlers;
 * but a bug of ours, and want of memory for a description (of a graph, a plan; not for numbers), abort with a line.
 * Threads: a graph or model is built by one thread; a plan is used by one thread at a time; different plans are
 * independent.
 * Ownership: tensors belong to their graph, a graph to its model if it has one; what a function returns as char* is
 * yours to free with ts_free. Shapes count elements, sizes are bytes, times are seconds.
 *
 * Sections: errors and dtypes, arrays, graphs, gradients, custom operations, functions, scans, training steps, models,
 * plans, text, files, tables and machine. What plans hand to each other and share is in tessera_shared.h. */
#ifndef TESSERA_H
#define TESSERA_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TS_VERSION "0.1.0"
#define TS_API __attribute__((visibility("default")))

enum { TS_MAX_RANK = 8, TS_MAX_THREADS = 1024 };

/* ---- errors and dtypes ---- */
typedef enum ts_code {
    TS_OK = 0,
    TS_FAILED = 1,      /* what was asked to hold does not: a comparison, a check */
    TS_USAGE = 2,       /* bad flag or argument */
    TS_BAD_INPUT = 3,   /* model, schema or data malformed */
    TS_UNSUPPORTED = 4, /* valid but not supported: operator, dtype, version, shape */
    TS_TOOLCHAIN = 5,   /* compiler missing, failed, timed out */
    TS_NUMERICS = 6,    /* output outside tolerance, index out of range */
    TS_MEMORY = 7,      /* would exceed the limit, or allocation failed */
    TS_FILES = 8,       /* cannot read or write, disk full */
    TS_DEVICE = 9,      /* device absent, lost, faulted */
    TS_DIVERGED = 10,   /* training met NaN or Inf */
    TS_BUG = 70,        /* an internal error */
    TS_TIMEOUT = 124,
    TS_INTERRUPTED = 130 /* by ts_interrupt */
} ts_code;

typedef struct ts_error {
    ts_code code;
    char text[2040]; /* what, which value, where, and "\n  hint: ..." with the remedy */
} ts_error;

typedef enum ts_dtype {
    TS_F32,
    TS_F64,
    TS_F16,
    TS_BF16,
    TS_I64,
    TS_I32,
    TS_I16,
    TS_I8,
    TS_U64,
    TS_U32,
    TS_U16,
    TS_U8,
    TS_BOOL,
    /* A byte for each element in memory, whatever files do: floats of 8 and 4 bits, integers of 4 and 2. */
    TS_F8E4M3FN,
    TS_F8E4M3FNUZ,
    TS_F8E5M2,
    TS_F8E5M2FNUZ,
    TS_F8E8M0,
    TS_F4E2M1,
    TS_I4,
    TS_U4,
    TS_I2,
    TS_U2,
    TS_N_DTYPE
} ts_dtype;
TS_API const char *ts_dtype_name(ts_dtype d); /* "f32" */
TS_API int ts_dtype_bytes(ts_dtype d);

TS_API void ts_free(void *p);

/* ---- arrays: values in memory, row-major ---- */
typedef struct ts_array {
    ts_dtype dtype;
    int rank;
    int64_t dim[TS_MAX_RANK];
    /* Owned by whoever made the array. ts_array_free releases what came as a new array from here: of ts_array_make,
     * ts_npy_read, ts_plan_get, ts_runner_run, ts_eval and others. */
    void *data;
} ts_array;
TS_API bool ts_array_make(ts_array *a, ts_dtype dtype, int rank, const int64_t *dim, ts_error *e); /* zeroed */
TS_API void ts_array_free(ts_array *a);
TS_API int64_t ts_array_count(const ts_array *a);
TS_API double ts_array_at(const ts_array *a, int64_t i); /* element i, 0 <= i < count; i64, u64: rounded beyond 2^53 */
/* Element i becomes v, as a cast of f64 to its dtype has it: integers truncate, and saturate. */
TS_API void ts_array_set(ts_array *a, int64_t i, double v);
/* Uniform noise from a seed, the same bits anywhere: reals in [-1, 1), rounded to their dtype; integers in [0, below),
 * 0 and 1 where below <= 0. What the dtype does not hold wraps: below is at most 256 for u8. */
TS_API void ts_array_random(ts_array *a, uint64_t seed, int64_t below);
TS_API bool ts_npy_read(const char *path, ts_array *out, ts_error *e);
TS_API bool ts_npy_write(const char *path, const ts_array *a, ts_error *e);

/* A value as ONNX has them: an array, a sequence of n values, or an optional with n = 0 or 1 of them. */
typedef enum ts_kind { TS_TENSOR, TS_SEQUENCE, TS_OPTIONAL } ts_kind;
typedef struct ts_value {
    ts_kind kind;
    ts_array array; /* of a tensor */
    int n;
    struct ts_value *item;
} ts_value;
/* A protobuf file as ONNX tests have them, input_0.pb. form: as a port states it. Release with ts_value_free. */
TS_API bool ts_value_read(const char *path, const char *form, ts_value *out, ts_error *e);
TS_API void ts_value_free(ts_value *v);

/* ---- graphs: lazy, immutable; equal expressions are the same tensor ---- */
typedef struct ts_graph ts_graph;
typedef const struct ts_node *ts_tensor; /* lives as long as its graph; compare pointers for identity */

TS_API ts_graph *ts_graph_make(void);
TS_API void ts_graph_free(ts_graph *g);
/* Builders return NULL on a mistake and when given NULL, and the graph keeps the first reason: ask once at the end.
 * While it keeps one, every builder returns NULL. A tensor of another graph is such a mistake. */
TS_API bool ts_graph_ok(const ts_graph *g, ts_error *e);
/* The same, and the reason is taken from the graph: what was made before stands, and building goes on. */
TS_API bool ts_graph_recover(ts_graph *g, ts_error *e);

/* A name is of one dtype and shape: called again with the same, it is the same tensor. An extent of -1 is left open, of
 * an input or a seeded weight: an einsum, product or pointwise operation that takes it says how long the axis is
 * ("ij,jk->ik" of x f32[32,64] and w f32[-1,16] makes that f32[64,16], which ts_shape then has). What products,
 * pointwise operations and transpose make of it is open too, until a later call says more: w1 f32[64,-1] gets as many
 * columns as w2 has rows in tanh(x w1) w2. Other calls refuse what is still open; those that do not fit what an earlier
 * one said name it. */
TS_API ts_tensor ts_input(ts_graph *g, const char *name, ts_dtype dtype, int rank, const int64_t *dim);
/* A weight whose element i is (float)(mean + scale * u_i), u_i in [-1, 1) from seed and i; filled by a build. */
TS_API ts_tensor ts_weight(ts_graph *g, const char *name, ts_dtype dtype, int rank, const int64_t *dim, double mean,
                           double scale, uint64_t seed);
TS_API ts_tensor ts_constant(ts_graph *g, const char *name, const ts_array *value); /* copies; name may be NULL */
TS_API ts_tensor ts_scalar(ts_graph *g, ts_dtype dtype, double value);
/* Any operation of the table (tessera ops): "softmax axis=-1", "conv strides=[2,2] pads=[1,1,1,1]", a text with blanks
 * in quotes: formula text="a + 1". Random ones without a seed get one: no two calls in a graph the same, and the same
 * ones in the same order the same in every run. */
TS_API ts_tensor ts_call(ts_graph *g, const char *call, int n, const ts_tensor *in);
TS_API ts_tensor ts_call1(ts_graph *g, const char *call, ts_tensor a);
TS_API ts_tensor ts_call2(ts_graph *g, const char *call, ts_tensor a, ts_tensor b);
TS_API ts_tensor ts_call3(ts_graph *g, const char *call, ts_tensor a, ts_tensor b, ts_tensor c);

/* Gives t a name, for schemas and reports, if it has none; no part of what it is. Gives t back. */
TS_API ts_tensor ts_named(ts_graph *g, ts_tensor t, const char *name);
/* Names of t's axes, "batch heads _", said before t is used, no part of it: results keep them, two may not meet. */
TS_API ts_tensor ts_axes(ts_graph *g, ts_tensor t, const char *names);
TS_API int ts_axis(ts_tensor t, const char *name); /* which axis of t has the name; -1: none */
TS_API const char *ts_name(ts_tensor t);           /* label of an input, weight or named result; else "" */
TS_API ts_dtype ts_type(ts_tensor t);
TS_API int ts_rank(ts_tensor t);
TS_API const int64_t *ts_shape(ts_tensor t); /* ts_rank(t) extents */
TS_API const char *ts_op_name(ts_tensor t);  /* "matmul"; "input", "weight" and "const" for leaves */
TS_API int ts_index(ts_tensor t);            /* which output of its operation: 0, 1, ... */
TS_API ts_tensor ts_origin(ts_tensor t);     /* output 0 of the same operation */
TS_API ts_tensor ts_output(ts_graph *g, ts_tensor t, int index); /* another output of the same operation */
/* Walking a graph, for an evaluator or a back end beside this one: operands, which come before those who read them, and
 * attributes. All tensors that t needs, itself included; out may be NULL to count them. */
TS_API int ts_nodes(int n, const ts_tensor *t, ts_tensor *out);
TS_API ts_tensor ts_operand(ts_tensor t, int i); /* NULL past the last one */
/* Of what t needs, the tensors that have `of` among their operands, each once; out may be NULL to count them. */
TS_API int ts_consumers(int n, const ts_tensor *t, ts_tensor of, ts_tensor *out);
typedef struct ts_attribute { /* one per entry of the operation's specification (tessera ops), defaults filled in */
    const char *name;         /* it and what follows live as long as the graph */
    char kind;                /* i, f, s: one number or text; I, F: n of them; '-': it was not given */
    int n;
    int64_t i;
    double f;
    const char *s;
    const int64_t *ints;
    const double *reals;
} ts_attribute;
TS_API bool ts_attribute_at(ts_tensor t, int i, ts_attribute *out); /* false past the last one */
/* Where calls stand in the program: what is made after ts_at was made there, and what is refused after it says so, with
 * the places of its operands. Gives g back. file outlives the graph, as __FILE__ does. Of a program that defines
 * TS_SITES before it includes this header the calls below do that themselves. */
TS_API ts_graph *ts_at(ts_graph *g, const char *file, int line);
/* The inputs and weights that the tensors need, in order of creation; out may be NULL to count them. */
TS_API int ts_leaves(int n, const ts_tensor *t, ts_tensor *out);
/* out[i]: t[i] computed from to[k] in place of every from[k], which has the same shape and dtype. What does not depend
 * on any of them is shared. False, with the reason in the graph, when that cannot be. */
TS_API bool ts_replace(ts_graph *g, int n, const ts_tensor *t, int n_pair, const ts_tensor *from, const ts_tensor *to,
                       ts_tensor *out);
/* Mixed precision. out[i]: t[i], of the same shape and dtype, with products of f32 (of matrices, convolutions) formed
 * from operands rounded to `to`, TS_F16 or TS_BF16, and given in it, as are values on the way from one product to
 * another. Sums stay in f32, and so does what recipes (softmax, layer norm) do inside and what comes after the last
 * product. Leaves stay as they are. False, with the reason in the graph, when that cannot be. */
TS_API bool ts_mixed_precision(ts_graph *g, int n, const ts_tensor *t, ts_dtype to, ts_tensor *out);
/* Dropout: out[i]: t[i] as in training, with elements left out at random in some places and the others divided by
 * 1 - rate. Which elements: a function of the seed, the place's name and the element's index alone. Places are the
 * model's own dropout operations, which else do nothing (or, switched on in the file, leave out the same elements in
 * every run); or what `on` names: globs, one a line, of which each names operations by label or layers by the path of
 * their weights ('/' and '.' are one; a layer's place is what its newest operation gives). Rate 0 takes out all dropout
 * of the model. The number of places; -1, with the reason in the graph, where a glob names nothing. */
typedef struct ts_dropout_options {
    const char *on; /* NULL: the model's own */
    double rate;    /* below 1; below 0: as each of the model's own says */
    ts_tensor seed; /* an integer, or two: then t is of that one of equal parts, end to end; NULL where rate is 0 */
} ts_dropout_options;
TS_API int ts_dropout(ts_graph *g, int n, const ts_tensor *t, const ts_dropout_options *asked, ts_tensor *out);
TS_API char *ts_print(int n, const ts_tensor *t); /* the text form; ts_parse reads it back */
/* Appends the text form's nodes to g and gives its results; weights that were not seeded come back as inputs. */
TS_API bool ts_parse(ts_graph *g, const char *text, int max, ts_tensor *out, int *n, ts_error *e);
/* Structure, names, dtypes, shapes, attributes; not weight data */
TS_API void ts_hash(int n, const ts_tensor *t, char hex[65]);

/* ---- gradients ---- */
/* grad[j] = the gradient of the sum over i of seed[i] * out[i] with respect to in[j], as a tensor of in[j]'s shape and
 * dtype: lazy like any other, so it prints, runs on every target and has gradients itself. in: any tensors of real
 * dtype, inner ones too. seed: NULL, or one for each output, of its shape and dtype; NULL stands for 1 and is for
 * outputs of one element. Integers, truth values and what is computed from them carry no gradient; an input without a
 * way to an output gets zeros. Elements that share a maximum or minimum along axes or of a window get equal parts of
 * its gradient; of two equal operands of maximum or minimum the second gets all (so that max(x, 0) has none at 0), of
 * equal elements along cummax or cummin the first. What a choice (where, c ? a : b) does not take gets 0 even where its
 * own derivative is NaN or infinite; sums of products (matmul) on the way keep 0 * inf = NaN. False, with the reason in
 * the graph, for an operation that has no gradient. */
TS_API bool ts_chain_rule(ts_graph *g, int n_out, const ts_tensor *out, const ts_tensor *seed, int n_in,
                          const ts_tensor *in, ts_tensor *grad);

/* Forward mode. tangent[i] = the sum over j of (d out[i] / d in[j]) along[j]: how out[i] changes as each in[j] moves
 * along along[j], of its shape and dtype. Lazy like any other, with gradients and tangents of its own; choices and ties
 * as ts_chain_rule has them. An output that nothing moves gets zeros. False, with the reason in the graph. */
TS_API bool ts_pushforward(ts_graph *g, int n_in, const ts_tensor *in, const ts_tensor *along, int n_out,
                           const ts_tensor *out, ts_tensor *tangent);
/* Batching. to[k], of from[k]'s dtype and of its shape behind one more axis, stands for a batch of values of from[k];
 * out[i]: the batch of values that t[i] then has, along its first axis. Derived from the definitions of operations, so
 * there is no loop over the batch; what depends on no from[k] is shared. False, with the reason in the graph, for an
 * operation that cannot be spelled out with one more axis. */
TS_API bool ts_batch(ts_graph *g, int n, const ts_tensor *t, int n_pair, const ts_tensor *from, const ts_tensor *to,
                     ts_tensor *out);
/* The Jacobian of out with respect to in, by a batch of tangents or of gradients, whichever are fewer: the axes of out,
 * then those of in. n_pair NULL: dense. Else compressed: pair[k] is an axis of out and one of in along which out's
 * elements depend on in's at the same place alone; of such a pair one axis is left, that of out, and no seed is spent
 * on it. Of bands, as neighbours along an axis, either way takes as many seeds as they are wide. */
TS_API ts_tensor ts_jacobian(ts_graph *g, ts_tensor out, ts_tensor in, int *n_pair, int (*pair)[2]);

/* ---- custom operations ---- */
typedef struct ts_use {           /* a call of one, as its functions see it */
    int n_in, n_out, part, parts; /* part: kernel's share of the work; each one writes elements of its own */
    const ts_array *in;           /* data, row-major, is there for kernel alone */
    ts_array *out;                /* shape sets dtype, rank and dim, kernel the data */
    const double *number;         /* as `numbers` lists them */
    const ts_tensor *x, *y, *dy;  /* gradient: operands, outputs, and what arrives for these; NULL for integers */
    ts_tensor *dx;                /* gradient: what each operand receives, of its type; left NULL: nothing */
    void *user;
} ts_use;
/* An operation of one graph, called, printed, planned and matched by rules like those of the table; no saved model has
 * one. With `text` it fuses, has gradients and runs everywhere, emitted programs included; a kernel is a function of
 * this process, which targets c and interp call, from several threads at once. Functions return false with the reason
 * in e->text. `impure`: the kernel gives other values for the same operands, so that no two calls are one tensor.
 * Texts of the record are copied; its functions and `user` outlive the graph. */
typedef struct ts_operation {
    const char *name;    /* of lower-case letters, digits and _ */
    int n_in, n_out;     /* operands, at most 10, -1: any number; outputs, at most 8, 0: one */
    const char *numbers; /* what a call may state, with defaults: "beta=1 eps=1e-5"; NULL: nothing */
    const char *text;    /* one element of at most 4 operands a, b, c, d and numbers: "a * exp(-beta * b)" */
    bool (*shape)(const ts_use *u, ts_error *e);                 /* or a kernel; shape NULL: like operand 0 */
    bool (*kernel)(const ts_use *u, ts_error *e);                /* outputs hold anything before */
    bool (*gradient)(ts_graph *g, const ts_use *u, ts_error *e); /* NULL: derived from text; a kernel has none */
    bool serial, impure;                                         /* one part does all of a kernel's work; see above */
    void *user;
} ts_operation;
/* False, with the reason in the graph, unless the name is free or stands for the same already. */
TS_API bool ts_define(ts_graph *g, const ts_operation *o);

/* ---- functions ---- */
/* A scalar function of one graph, "relu3(x)", of 1 to 4 parameters, by its text: "x < 0 ? 0.0 : x < 1 ? x*x*x/3 : x -
 * 2/3.0". The text may bind names ("let t = x * x; t + 1"), call functions of the table and of the graph, itself too
 * where numbers in the call decide when that ends, take a bounded number of steps ("while (x > 1, 20) x = x / 2; x"),
 * and give several results ("sqrt(x*x + y*y), atan2(y, x)"), of which "let r, p = polar(x, y);" names all, and
 * "polar.1" is the second. Texts of operations call it as any other (formula text="a * relu3(b)"), and it is an
 * operation itself (ts_call1(g, "relu3", x); ts_output for further results): it fuses and runs on every target. Its
 * derivative follows from the text; or `derivative` says it, over the parameters and y, the value: for each result one
 * by each parameter, between commas. False, with the reason in the graph. */
TS_API bool ts_function(ts_graph *g, const char *head, const char *text, const char *derivative);
/* One of a graph, or an operation of the table that works element by element ("gelu approximate=tanh"; its operands
 * are a, b, ...), as a file of C11 in doubles that needs nothing but libm. what: "value"; "jvp", how its results change
 * as the parameters move; "vjp", what each parameter receives from what the results do. */
TS_API char *ts_function_source(ts_graph *g, const char *name, const char *what, ts_error *e);

/* ---- scans ---- */
/* A loop as one operation: nothing but its work grows with the number of trips. What a trip computes is built once,
 * between begin and end, of tensors that stand for what it has at hand: a state (first before the first trip, then what
 * the trip before made it), a slice (one row of a tensor that has one for each trip, along its first axis), the trip's
 * number (i64). Whatever else it reads is the same in all trips. A state keeps its shape and dtype; one without a step
 * keeps its value. Gathered rows become a tensor with a new first axis. `until` makes a trip the last one: later ones
 * are not done, and their rows are 0. Scans may stand within scans. Functions that fail give NULL or false, with the
 * reason in the graph. */
typedef struct ts_scan ts_scan; /* lives as long as the graph */
TS_API ts_scan *ts_scan_begin(ts_graph *g, int64_t trips);
TS_API ts_tensor ts_scan_state(ts_scan *s, ts_tensor first);
TS_API ts_tensor ts_scan_slice(ts_scan *s, ts_tensor of, bool backwards); /* backwards: from the last row on */
TS_API ts_tensor ts_scan_trip(ts_scan *s);
TS_API bool ts_scan_step(ts_scan *s, ts_tensor state, ts_tensor next);
TS_API bool ts_scan_gather(ts_scan *s, ts_tensor row, bool backwards);
TS_API bool ts_scan_until(ts_scan *s, ts_tensor last); /* a truth value */
/* For gradients states are kept of every so many trips, and computed again between: 1 all, 0 about as many as the root
 * of trips. The gradient's bits are the same; gradients of it are sums in another order. */
TS_API bool ts_scan_keep(ts_scan *s, int64_t every);
/* out: the last value of each state, then what was gathered, in the order of the calls. */
TS_API bool ts_scan_end(ts_scan *s, ts_tensor *out);

/* ---- training steps ----
 * Parameters are inputs, which a plan carries over as state. All of it, as in tests/install/train.c:
 *
 *     ts_tensor x = ts_input(g, "x", TS_F32, 2, xs.dim), y = ts_input(g, "y", TS_F32, 2, ys.dim), grad, loss;
 *     ts_tensor w = ts_input(g, "w", TS_F32, 2, (int64_t[]){2, 1}), step = ts_input(g, "step", TS_F64, 0, NULL);
 *     loss = ts_call2(g, "mse_loss", ts_call2(g, "matmul", x, w), y);
 *     ts_optimizer how = {.recipe = "adam", .rate = ts_scalar(g, TS_F64, 0.1), .step = step};
 *     ts_updates u = {0};
 *     ts_state state[9]; // w, and what Adam keeps of it
 *     if (ts_chain_rule(g, 1, &loss, NULL, 1, &w, &grad))
 *         ts_optimize(g, &how, 1, &w, &grad, &u);
 *     for (int i = 0; i < u.n; i++)
 *         state[i] = (ts_state){u.update[i].from, u.update[i].to};
 *     ts_plan *p = ts_graph_ok(g, &e) ? ts_plan_of(g, 1, &loss, u.n, state, NULL, &e) : NULL;
 *     bool ok = p && give(p, "x", xs, &e) && give(p, "y", ys, &e);
 *     for (int i = 0; ok && i < u.n; i++) { // first values: of a parameter its own, of others what `start` says
 *         ts_array first = {TS_F32, 2, {2, 1}, (float[]){0, 0}};
 *         ok = (!u.update[i].start || ts_eval(1, &u.update[i].start, 0, NULL, NULL, &first, &e)) &&
 *              give(p, ts_name(u.update[i].from), first, &e);
 *         if (u.update[i].start)
 *             ts_array_free(&first);
 *     }
 *     for (double k = 1; ok && k <= 200; k++)
 *         ok = give(p, "step", (ts_array){.dtype = TS_F64, .data = &k}, &e) && ts_plan_run(p, &e);
 */
/* The learning rate at step 1, 2, ... (a tensor without axes, of dtype f64): peak * step / warmup up to step `warmup`,
 * then constant, or falling to low * peak at step total + 1: in a line, or as half a cosine. */
typedef struct ts_schedule_kind {
    const char *name; /* "constant", "linear", "cosine" */
    double peak, warmup, total, low;
} ts_schedule_kind;
TS_API ts_tensor ts_schedule(ts_graph *g, const ts_schedule_kind *kind, ts_tensor step);

typedef struct ts_rule {  /* for parameters whose name one of the globs matches; of several rules the first counts */
    const char *names;    /* "*bias,*LayerNorm*" */
    bool frozen;          /* stays as it is: no state, and its gradient is not used */
    double rate;          /* times the learning rate; 0: 1 */
    const char *settings; /* in place of the optimizer's: "decay=0"; or NULL */
    int below_rank;       /* only for parameters of lower rank: 2 for biases and scales; 0: of any */
} ts_rule;
typedef struct ts_optimizer {
    const char *recipe;   /* name and settings: "adamw beta2=0.95 decay=0.1"; ts_optimizer_name lists them */
    ts_tensor rate, step; /* without axes, of dtype f64; step: an input, 1 at the first step */
    double clip;    /* gradients are scaled down to at most this norm, all of them taken as one; 0: they are not */
    double average; /* an average of each parameter keeps this share per step; 0: none is kept */
    int n_rule;
    const ts_rule *rule;
} ts_optimizer;
typedef struct ts_update { /* after the step, what was `from` is `to` */
    ts_tensor from, to;
    /* The value of `from` before the first step: zeros for an optimizer's state, the parameter for its average;
     * NULL: the parameter itself */
    ts_tensor start;
} ts_update;
typedef struct ts_updates {
    int n; /* first the parameters in their order; then inputs made for states, named PARAMETER.STATE, and the step */
    ts_update *update; /* lives as long as the graph */
    ts_tensor norm;    /* of all gradients as one, f64, before clipping */
    ts_tensor *square; /* of each parameter's gradient, summed, f64; NULL where frozen */
} ts_updates;
/* The step of an optimizer as tensors. grad[i] has parameter[i]'s shape and dtype. */
TS_API bool ts_optimize(ts_graph *g, const ts_optimizer *o, int n, const ts_tensor *parameter, const ts_tensor *grad,
                        ts_updates *out);
/* Normalisation over batches (batch_norm), as while training or as after it: out[i]: t[i] with the statistics of the
 * batch, over all but axis 1, or with the model's own, whatever the file says. In training the model's own follow:
 * update is what each becomes, momentum * itself + (1 - momentum) * the batch's (variances over the count, as ONNX has
 * them), of an input that has the weight's name, `start` being the weight. Their number; -1 with the reason in the
 * graph. */
typedef struct ts_statistics {
    bool training;
    const char *fixed; /* globs, one a line: norms whose statistics have such names stay as after training; or NULL */
} ts_statistics;
TS_API int ts_batch_statistics(ts_graph *g, int n, const ts_tensor *t, const ts_statistics *asked, ts_tensor *out,
                               ts_update **update); /* lives as long as the graph */
/* w + alpha / rank * a b for a matrix w, to be put in its place (ts_replace); factor: the inputs a and b, named
 * W.lora_a and W.lora_b, with their first values: what is trained while w stays. The result's value is w merged. */
TS_API ts_tensor ts_lora(ts_graph *g, ts_tensor w, int rank, double alpha, ts_update factor[2]);
/* out[i]: t[i] with every of[k].w standing for w + scale * a b, without forming it where t multiplies by w: x w becomes
 * x w + (x a) b, scaled, and gradients go to the factors alone. What reads a weight otherwise reads `merged`. */
typedef struct ts_factors {
    ts_tensor w, a, b, merged; /* as ts_lora makes them */
    double scale;              /* alpha / rank */
} ts_factors;
TS_API bool ts_lora_apply(ts_graph *g, int n, const ts_tensor *t, int n_weight, const ts_factors *of, ts_tensor *out);
/* Gradients over `steps` batches: each of the first ones makes `sums` (n of them) what they become; the last one hands
 * `mean`, the means with its own part, to ts_optimize, and sets every sums[i].from to sums[i].start again. */
TS_API bool ts_accumulate(ts_graph *g, int n, const ts_tensor *grad, double steps, ts_update *sums, ts_tensor *mean);
TS_API const char *ts_optimizer_name(int i);     /* NULL past the end */
TS_API const char *ts_optimizer_settings(int i); /* with their usual values: "beta1=0.9 eps=1e-8" */

/* ---- models ---- */
typedef struct ts_model ts_model;
typedef struct ts_port {
    const char *name;
    ts_dtype dtype;
    int rank;
    int64_t dim[TS_MAX_RANK];        /* -1 while a symbol is unbound */
    const char *symbol[TS_MAX_RANK]; /* the dimension's name, or NULL */
    int64_t below;                   /* integers: a random value must lie in [0, below); 0 if unknown */
    const char *form; /* NULL: a tensor; else what holds tensors, from outside in: 's' a sequence, 'o' an optional */
    int whole; /* after ts_model_bind: the input or output as the file declares it that this is, or is an entry of */
} ts_port;

/* what: a built-in name, an .onnx or .json file, a folder with model.onnx or graph.json, or a text of ts_print. */
TS_API ts_model *ts_model_open(const char *what, ts_error *e); /* nothing is bound yet */
/* The same under other limits on what the file may cost before it runs, "steps=1000000", "folded=1G": steps (262144, of
 * unrolled loops and inlined functions; four nodes that they become count as one more), folded (256M bytes of constants
 * made of constants), known (16M elements gone through for values that decide shapes; beyond: TS_UNSUPPORTED), elements
 * (2^40 of one value), description (128M bytes of the file without its values). Beyond one: TS_MEMORY. */
TS_API ts_model *ts_model_open_within(const char *what, int n_limit, const char *const *limit, ts_error *e);
TS_API void ts_model_free(ts_model *m);
TS_API int ts_model_inputs(const ts_model *m);
TS_API bool ts_model_input(const ts_model *m, int i, ts_port *out);
TS_API int ts_model_outputs(const ts_model *m);
TS_API bool ts_model_output(const ts_model *m, int i, ts_port *out); /* shape known after ts_model_bind */
/* Binds dimensions ("seq=128"), then the shapes of given inputs, then defaults of built-in models, and builds the
 * graph. A range ("seq=1..128", in steps "width=64..512/64") holds the shapes to it, and stands for its largest extent
 * where none is given; a sum ("total=past+seq") ties a dimension to others.
 * shapes[i] belongs to input i; NULL, or dtype TS_N_DTYPE, where not given. Where its data is given too, and a
 * shape or the flow of the model depends on it, that value is the only one that plans of this binding take. */
TS_API bool ts_model_bind(ts_model *m, int n, const char *const *dims, const ts_array *shapes, ts_error *e);
/* The same with all that a binding can say. Sequences and optionals come apart into their tensors, "x[0]" and so on. */
typedef struct ts_binding {
    int n_dim;
    const char *const *dim; /* "seq=128" */
    const ts_value *value;  /* of every input of the unbound model, or NULL; as shapes above */
    const bool *hold;       /* inputs whose value becomes part of the model; NULL: none */
    bool free;              /* extents that the model states for inputs count for nothing, those of values do */
} ts_binding;
TS_API bool ts_model_bind_values(ts_model *m, const ts_binding *b, ts_error *e);
/* What the last bind took otherwise than the file says: a line for each dimension that is one by its name and has two
 * extents by the values given. "": nothing. The text is the model's, until the next bind. */
TS_API const char *ts_model_notes(const ts_model *m);
/* Whether the last bind failed for want of values alone, on which shapes or the flow depend. */
TS_API bool ts_model_waits(const ts_model *m);
/* Takes what was bound out of the model, which is unbound then: the graph, and plans over it, last until it is freed;
 * before the model. NULL: nothing was bound. */
typedef struct ts_bound ts_bound;
TS_API ts_bound *ts_model_take(ts_model *m);
TS_API void ts_bound_free(ts_bound *b);
/* Gives it back to its own model, in place of what is bound now, as if nothing had been since. NULL does nothing. */
TS_API void ts_model_restore(ts_model *m, ts_bound *b);
TS_API ts_graph *ts_model_graph(ts_model *m); /* NULL before bind */
TS_API ts_tensor ts_model_tensor(const ts_model *m, int output);
/* Values inside a bound model, until the next bind, as outputs behind its own: those whose label, or number and
 * operation in the model's text ("n12.matmul"), fits one of the globs, one a line; "*" is all. How many; -1: not bound.
 * Kernels do not fuse across what is an output: bits may differ from those of a plan without. */
TS_API int ts_model_reveal(ts_model *m, const char *globs, ts_error *e);
/* The part of a bound model, until the next bind, from values that become inputs to those that become outputs (n_to
 * 0: its own). Names are those of outputs and as above, of one value each; inputs that the part does not need go. */
TS_API bool ts_model_cut(ts_model *m, int n_from, const char *const *from, int n_to, const char *const *to,
                         ts_error *e);
TS_API char *ts_model_steps(const ts_model *m, ts_error *e); /* what the file says, as text; bound or not */
TS_API char *ts_model_json(const ts_model *m, ts_error *e);  /* what `tessera show --json` prints */
/* Changes to a model; what was bound is no longer. A built-in one must be bound: it becomes a model as from a file, in
 * operators of ONNX, whose dimensions are free but for those bound by name and those that its steps depend on.
 * ts_model_extend appends what a JSON object of graph/1 describes ("inputs", "constants", "nodes"; "outputs" replace
 * the model's), ts_model_put replaces a weight by one of the same dtype and shape or adds one (copied). */
TS_API bool ts_model_extend(ts_model *m, const char *json, ts_error *e);
TS_API bool ts_model_put(ts_model *m, const char *weight, const ts_array *value, ts_error *e);
/* Weights that a file lists as inputs too (ONNX, from IR 4 on) and so lets a run give; i counts them. ts_model_put does
 * that, in any shape that the input may have; plans made then are for this value. */
TS_API bool ts_model_default(const ts_model *m, int i, ts_port *out);
/* For training: exporters write tensors of equal numbers once and hand them on under other names (Identity). Where all
 * elements are one number, as of biases and statistics at the beginning, each name gets a weight of its own. */
TS_API bool ts_model_separate(ts_model *m, ts_error *e);
TS_API bool ts_model_mixed(ts_model *m, ts_dtype to, ts_error *e); /* bound, for inference: by ts_mixed_precision */
/* Operators of the file that are in training mode (batch norm, dropout) as they are after training. */
TS_API bool ts_model_trained(ts_model *m, ts_error *e);
/* SHA-256 of the bytes it was read from: of its file, and of those beside it that a bound model takes; "": built in */
TS_API bool ts_model_hash(const ts_model *m, char sha256[65], ts_error *e);
/* Writes a model as `format`: "onnx", a file, or "json", a folder with graph.json and weights.safetensors; NULL: as the
 * suffix of path says, else a folder. Symbols, names and bits stay; what stood there goes once all is written. */
TS_API bool ts_model_save(ts_model *m, const char *format, const char *path, ts_error *e);

typedef struct ts_range {
    double low, high;
} ts_range;
/* How the weights of products are quantized: constant f32 matrices on the right of MatMul and Gemm. */
typedef struct ts_quantization {
    int bits;                /* 8: i8, a scale per column, DequantizeLinear; 4: a scale per block, MatMulNBits */
    int block;               /* of 4 bits: elements that share a scale, 16, 32, ... 256; 0: 32 */
    int n_keep;              /* products that stay as they are: */
    const char *const *keep; /* globs for the name of the node or of its weight */
    /* Of 8 bits: the least and the largest element that each of n values of the graph takes, 0 included or not. What
     * products take is then rounded to u8 by them, Conv is a product too, and so is what it gives. NULL: f32. */
    bool (*observe)(void *user, int n, const char *const *value, ts_range *range, ts_error *e);
    void *user;
} ts_quantization;
typedef struct ts_quantized {
    int products, kept;    /* rewritten; with such a weight, but left as they were */
    int values;            /* that are rounded to u8 */
    int64_t before, after; /* bytes of the files, those beside them too */
    double error;          /* the largest of a weight: |w - q| / |w|, |w| the root of the sum of its squares */
    char worst[256];       /* the weight that has it, cut to what fits */
} ts_quantized;
/* Rewrites an ONNX file; what is no such product is copied through unchanged. Numbers lie in the file itself up to one
 * GiB, in TO.data from there on. TS_UNSUPPORTED where there is nothing to quantize. what may be NULL. */
TS_API bool ts_quantize(const char *path, const ts_quantization *how, const char *to, ts_quantized *what, ts_error *e);

/* A built-in model: a row in a table that the build makes from models/. build reads extents with ts_dim, makes inputs
 * and weights on the graph, and names results with ts_result. */
typedef struct ts_builder {
    const char *name, *doc;
    const char *dims; /* defaults: "batch=1 seq=128" */
    bool (*build)(ts_model *m, ts_graph *g, ts_error *e);
} ts_builder;
TS_API const ts_builder *ts_builder_at(int i); /* NULL past the end */
TS_API int64_t ts_dim(const ts_model *m, const char *name);
TS_API void ts_result(ts_model *m, const char *name, ts_tensor t);
TS_API void ts_below(ts_model *m, ts_tensor input, int64_t below); /* valid values of an integer input are [0, below) */

/* ---- plans ---- */
typedef struct ts_plan ts_plan;
/* An output is an input with new elements behind it along an axis that varies. The input is kept where `most` elements
 * of that axis have room, and a run puts what is new there: set once, it is what the output was, as long as that is, in
 * every run that follows, and nothing is copied. ts_plan_get gives all of the room. */
typedef struct ts_append {
    int input, output;
    int64_t most;
} ts_append;
typedef struct ts_options {
    const char *target; /* "c", "interp", ...; NULL: the usual one; on x86, c takes and gives denormal numbers as 0 */
                        /* "A,B:1": spread over A and device 1 of B; rules may place kernels on others */
    const char *schema; /* a tiling/1 file, the name of a built-in one, or NULL for the guess */
    const char *isa;    /* "avx512", "avx2", "neon", "plain"; NULL: the best that the machine has */
    const char *cache_folder; /* NULL: the user's cache folder; "none": no cache */
    /* what the plan is for, in one line of text as ts_machine_json has it, or "gpu:h100", which goes to the first
     * target for its kind where none is named; NULL: this host, asked for every plan */
    const char *machine;
    int threads;           /* at most TS_MAX_THREADS; 0: all cores of the process's affinity mask */
    int device;            /* where the target's devices have numbers, and none is named: of those like the first */
    bool reference;        /* plain loops in f64 without fusion: the judge of every other plan */
    bool as_written;       /* no algebraic alternative (Winograd, Strassen): rows of a product keep their bits apart */
    bool reproducible;     /* the same bits by every instruction set and target but interp (docs/numerics.md) */
    const char *mem_limit; /* "4G", each device's, or part's; "2G,c:numa0=1G", some's; NULL: what is free, or there */
    int n_append;          /* of ts_plan_make_varying: inputs that go on, as keys and values of a decoder */
    const ts_append *append;
    void (*progress)(void *user, const char *what, int done, int total);
    void *user;
    /* Told behind each pass over the plan (ts_passes_json) which nodes and kernels there are, as text; NULL: nobody */
    void (*passed)(void *user, const char *pass, const char *text);
    void *passed_user;
} ts_options;

/* Fuses, chooses loops and layouts, orders, places, plans memory. Compiles nothing. */
TS_API ts_plan *ts_plan_make(ts_model *m, const ts_options *o, ts_error *e);
/* One plan for all extents of dimensions within bounds ("seq=1..512", or "seq=..512"), of at most 4; dim: as for
 * ts_model_bind. Values that are set may have any extent within; a run takes those of its inputs, and what ts_plan_get
 * gives has them too. Binds m, several times, and leaves it bound at the largest. Loops and memory are for those; sums
 * end where the extents do. Extents of the model may be sums of multiples of these ("past + seq"). TS_UNSUPPORTED names
 * the first operation that is another one at another extent, or a target that cannot. */
TS_API ts_plan *ts_plan_make_varying(ts_model *m, int n, const char *const *dim, const ts_options *o, ts_error *e);
TS_API const char *ts_plan_device(const ts_plan *p);     /* "A:0", where its target is numbered; the plan's own */
TS_API bool ts_plan_runs(const ts_plan *p, ts_error *e); /* on this machine; else what that lacks */
TS_API bool ts_plan_build(ts_plan *p, ts_error *e); /* compiles or finds the program in the cache, lays out weights */
/* Ends all building under way in this process: its compilers are killed, their files removed, and ts_plan_build fails
 * with TS_INTERRUPTED within some tenths of a second. False: nothing is being built. For signal handlers, too. */
TS_API bool ts_interrupt(void);
TS_API bool ts_plan_set(ts_plan *p, int input, const ts_array *value, ts_error *e); /* copies; kept until set again */
TS_API bool ts_plan_run(ts_plan *p, ts_error *e);
TS_API bool ts_plan_get(ts_plan *p, int output, ts_array *out, ts_error *e); /* a new array, yours */
/* ts_plan_run, with at(user, i) before kernel before[i], ascending; where a target cannot stop, behind the last one. */
TS_API bool ts_plan_run_stops(ts_plan *p, int n, const int *before, void (*at)(void *user, int i), void *user,
                              ts_error *e);
/* Bytes that a plan holds, by tag: of inputs, of weights, of values between kernels, of what describes it. peak: the
 * most since the plan was made or ts_plan_mark was called. Values are those that some kernel to come still reads; asked
 * where ts_plan_run_stops calls `at`, those at that place. */
typedef enum ts_tag { TS_TAG_INPUTS, TS_TAG_WEIGHTS, TS_TAG_VALUES, TS_TAG_PLAN, TS_N_TAG } ts_tag;
typedef struct ts_memory {
    int64_t now, peak;
} ts_memory;
TS_API const char *ts_tag_name(ts_tag t); /* "inputs" */
TS_API bool ts_plan_memory(const ts_plan *p, ts_memory out[TS_N_TAG], ts_error *e);
TS_API void ts_plan_mark(ts_plan *p);
/* The first kernel that touches an input; the one before which the host has its new value. INT_MAX: none. */
TS_API bool ts_plan_touched(const ts_plan *p, int input, int *first, int *written, ts_error *e);
/* Runs kernel by kernel, `repeats` times; seconds[k] is the median of kernel k. As many as "kernels"
 * in ts_plan_json. State keeps its values. */
TS_API bool ts_plan_profile(ts_plan *p, int repeats, double *seconds, int n, ts_error *e);
TS_API bool ts_plan_run_timed(ts_plan *p, double *seconds, int n, ts_error *e); /* a run; seconds[k]: of kernel k */
typedef struct ts_span {
    int kernel;         /* as in "kernels" of ts_plan_json */
    int lane, thread;   /* lanes: threads of a team, or devices; -1: it is a device */
    const char *device; /* of the lane; lives as long as the plan */
    double begin, end;  /* seconds since the run began */
} ts_span;
/* ts_plan_run, telling behind it who worked on which kernel when. A team runs as ever; a device tells how long kernels
 * took by its own clock, one behind the other; of several devices, the host waits for each behind each kernel. */
TS_API bool ts_plan_run_traced(ts_plan *p, void (*seen)(void *user, const ts_span *s), void *user, ts_error *e);
/* n runs, as by ts_plan_set, ts_plan_run and ts_plan_get, with the same bits. Of a plan over several devices they are a
 * pipeline: a device that is done with its part of one run goes on with the next, while others are at this one. Memory
 * is that of one run, whatever n is. Arrays are the caller's; results are in `out` alone. */
typedef struct ts_pipeline {
    int n;
    const ts_array *in; /* of run i: the value of input k is in[i * inputs + k] */
    ts_array *out;      /* of run i: output k goes to out[i * outputs + k], which has its dtype and shape, and room */
    void (*seen)(void *user, const ts_span *s); /* as of ts_plan_run_traced, since the first run began; or NULL */
    void *user;
} ts_pipeline;
TS_API bool ts_plan_pipeline(ts_plan *p, const ts_pipeline *w, ts_error *e);
typedef struct ts_stray {      /* a value that holds something else than numbers */
    int kernel;                /* that wrote it, as in "kernels" of ts_plan_json; -1: it was given, as an input */
    const char *op, *label;    /* of the kernel, or "input" and its name; they live as long as the plan */
    int64_t count, bad, first; /* elements; those that are NaN, or infinite: 0 when there are none; the first one */
} ts_stray;
/* ts_plan_run, kernel by kernel, with a look at all reals that are given and written: the first value with NaN and the
 * first one with an infinity. Sums, masks and steps kept inside a kernel are not seen, only what it leaves. */
TS_API bool ts_plan_strays(ts_plan *p, ts_stray *nan, ts_stray *infinite, ts_error *e);
/* plan/1: target, isa, threads, kernels with nests, levels, notes and refusals; memory; build facts: docs/plan.md. */
TS_API char *ts_plan_json(ts_plan *p, ts_error *e);
/* ledger/1: of every value in memory who wrote it last and who reads it next, on which device and stream; of every
 * kernel what it waits for, and how; of inputs whether the newest value is the host's, a device's, or missing. */
TS_API char *ts_plan_ledger(ts_plan *p, ts_error *e);
/* At most `most` loops that a kernel could have, as an array of objects with "loops", as a rule takes them, and
 * "predicted_ns" by the machine's rates and its "bound"; the quickest first, or, seed not being 0, drawn at random. */
TS_API char *ts_plan_nests(ts_plan *p, int kernel, int most, uint64_t seed, ts_error *e);
/* A kernel on its way to the machine: "tree", its statements; "text", in its language; "assembly", made of it. */
TS_API char *ts_plan_kernel(ts_plan *p, int kernel, const char *stage, ts_error *e);
TS_API void ts_plan_assemble(ts_plan *p); /* adds to that what a device's assembler makes of the kernels */
/* In place of a folder, one file of C, which `cc -std=c11 FILE -lm` builds: weights inside, or beside it, in a file
 * of the same name that ends in .bin. Only where kernels are C. */
typedef enum ts_single { TS_FOLDER, TS_SINGLE, TS_SINGLE_BESIDE } ts_single;
typedef struct ts_emission {
    const char *program; /* what the Makefile builds from main.c; NULL: "model" */
    bool bare;           /* no value of state is written: main.c puts it there */
    /* Adds files to the folder, or replaces them, before it gets its name; NULL: none */
    bool (*add)(void *user, const char *folder, ts_error *e);
    void *user;
    ts_single single; /* the program is a file of that name, not a folder */
} ts_emission;
/* A stand-alone program: sources, weights, Makefile. State lives in it from run to run, beginning with what the plan's
 * inputs hold, or with zeros. The folder appears whole or not at all. */
TS_API bool ts_plan_emit(ts_plan *p, const char *folder, const ts_emission *how, ts_error *e); /* how NULL: as it is */
TS_API void ts_plan_free(ts_plan *p);

/* A plan over tensors of one graph instead of a model's outputs. Its inputs are those that the tensors need, numbered
 * by ts_plan_find. The graph must outlive the plan.
 * State: after each run, the input `from` holds what `to` was: weights that a step updates, moments, a cache that it
 * appends to. Both have one dtype and shape; `to` is no output, unless it is given as one too; an input becomes one
 * thing. Within a run everybody reads the old value; an output that is `from` itself is the old value. `to` is written
 * into the input's own buffer where nothing reads the old value afterwards, and copied at the end of the run elsewhere;
 * "state" in ts_plan_json says which. After a run that failed, state is to be set again. */
typedef struct ts_state {
    ts_tensor from, to;
} ts_state;
TS_API ts_plan *ts_plan_of(ts_graph *g, int n, const ts_tensor *t, int n_state, const ts_state *state,
                           const ts_options *o, ts_error *e);
typedef struct ts_sequence { /* a tensor, and the axis along which its places are */
    ts_tensor t;
    int axis;
} ts_sequence;
/* What goes through a sequence whole as a computation of one place after another. out and the input `in` have the same
 * places. Set `place`, counted from 0, and `row`, which is in there; then `out` is out there, given that each
 * state[i].from holds of[i] at all places before, along axis[i]. It holds of a computation in which a place does not
 * depend on later ones; whether it does is the caller's to know. False, with the reason: something needs all places at
 * once, or goes through them in another way. */
typedef struct ts_steps {
    ts_tensor place, row; /* inputs: i64 without axes; as `in`, with extent 1 along its axis */
    ts_tensor out;        /* with extent 1 along its axis */
    int n;
    ts_state *state; /* these live as long as the graph */
    ts_tensor *of;
    int *axis;
} ts_steps;
TS_API bool ts_advance(ts_graph *g, ts_sequence out, ts_sequence in, ts_steps *steps, ts_error *e);
TS_API int ts_plan_find(const ts_plan *p, const char *input);                 /* -1: nothing needs it */
TS_API bool ts_plan_value(ts_plan *p, int input, ts_array *out, ts_error *e); /* what it holds; a new array, yours */
/* The same without a copy: borrowed until the plan is set, run or freed, and not to be changed. */
TS_API bool ts_plan_view(const ts_plan *p, int input, ts_array *out, ts_error *e);
/* The input lies in the caller's array from now on, aligned as those of ts_array_make, until the plan is freed: a run
 * reads it and writes it there. Another call says that the caller has changed it. */
TS_API bool ts_plan_lend(ts_plan *p, int input, const ts_array *value, ts_error *e);
TS_API bool ts_leaf_value(ts_tensor t, ts_array *out, ts_error *e); /* of a weight or constant; a new array, yours */

/* A model for whatever extents its inputs come with: a plan for each of them, made when they are met first and kept
 * while there is room. m and the texts of o outlive the runner, which alone binds m meanwhile. dim: as for
 * ts_model_bind; with a range among them the plan for the largest extents is made at once, so that what never fits is
 * refused here. Where the model can vary within the ranges (ts_plan_make_varying), that is one program for all of them,
 * built here: no extent is waited for, and those that are met often get plans of their own, made by a thread. */
typedef struct ts_runner ts_runner;
TS_API ts_runner *ts_runner_make(ts_model *m, int n, const char *const *dim, const ts_options *o, ts_error *e);
/* in: a value of every input of the unbound model; out: a new array for each of n outputs, yours. */
TS_API bool ts_runner_run(ts_runner *r, const ts_array *in, int n, ts_array *out, ts_error *e);
TS_API int ts_runner_made(const ts_runner *r); /* plans that were made so far */
TS_API void ts_runner_free(ts_runner *r);

/* Evaluates several tensors at once, common parts once. given: values of inputs, by name. out: n new arrays, yours. */
typedef struct ts_given {
    const char *name;
    ts_array value;
} ts_given;
TS_API bool ts_eval(int n, const ts_tensor *t, int n_given, const ts_given *given, const ts_options *o, ts_array *out,
                    ts_error *e);

/* ---- text: the numbers that a model over text was trained on ---- */
typedef struct ts_tokenizer ts_tokenizer;
/* what: a vocab.txt (WordPiece as BERT's), a tokenizer.json (docs/language.md), a folder with one of them, or "bytes":
 * byte b is token b. Read-only once opened. */
TS_API ts_tokenizer *ts_tokenizer_open(const char *what, ts_error *e);
TS_API void ts_tokenizer_free(ts_tokenizer *t);
TS_API int64_t ts_tokenizer_size(const ts_tokenizer *t);                  /* ids are in [0, size) */
TS_API int64_t ts_tokenizer_id(const ts_tokenizer *t, const char *token); /* -1: there is none, as in "[PAD]" */
/* n bytes of text, any bytes, as *count ids, for free(); whole: with the tokens that the tokenizer puts around it. */
TS_API int64_t *ts_tokenizer_encode(const ts_tokenizer *t, const char *text, size_t n, bool whole, int64_t *count);
/* The text of n ids without special tokens, for free(), terminated; it may hold NUL, hence *bytes. */
TS_API char *ts_tokenizer_decode(const ts_tokenizer *t, const int64_t *id, int64_t n, size_t *bytes);

/* ---- files: sets of named tensors (safetensors), and files that are there whole or not at all ---- */
typedef struct ts_tensors ts_tensors;
TS_API ts_tensors *ts_tensors_open(const char *path, ts_error *e); /* mapped: the file must stay as it is */
TS_API void ts_tensors_free(ts_tensors *t);
TS_API int ts_tensors_count(const ts_tensors *t);
TS_API const char *ts_tensors_name(const ts_tensors *t, int i);
TS_API bool ts_tensors_get(const ts_tensors *t, const char *name, ts_array *out, ts_error *e); /* a new array, yours */
/* Replaces the file, on disk when this returns; its SHA-256 as lower-case digits. */
TS_API bool ts_tensors_write(const char *path, int n, const ts_given *all, char sha256[65], ts_error *e);
/* The same of values that need have no data: each is asked for once, by parts in order. Bytes of tensor i, from there
 * on, which stay until the next call; NULL with the reason: the file stays as it was. part NULL: values have data. */
typedef const void *ts_tensors_part(void *user, int i, size_t from, size_t bytes, ts_error *e);
TS_API bool ts_tensors_write_parts(const char *path, int n, const ts_given *all, ts_tensors_part *part, void *user,
                                   char sha256[65], ts_error *e);
TS_API bool ts_file_write(const char *path, const void *bytes, size_t n, ts_error *e);
TS_API bool ts_file_hash(const char *path, char sha256[65], ts_error *e);
TS_API void ts_hash_bytes(const void *bytes, size_t n, char sha256[65]);

/* ---- tables and machine: JSON ---- */
TS_API char *ts_schema_guess(ts_model *m, const ts_options *o, ts_error *e); /* tiling/1, what the guess amounts to */
TS_API char *ts_ops_json(void);                                              /* the operation table */
/* Every operator of ONNX that is served: from which version on, by which operation, for which dtypes on each target. */
TS_API char *ts_onnx_json(ts_error *e);
/* Which operations have gradients: "written" beside the operation, "derived" from its definition, "of its parts" (a
 * recipe), "stops" (no reals come out, or none go in), or "refused" with the reason. */
TS_API char *ts_gradients_json(void);
TS_API char *ts_axes_json(void);    /* op name -> axis letters */
TS_API char *ts_passes_json(void);  /* of a plan, then of a kernel, in order: name, of, does, requires, guarantees */
TS_API char *ts_schemas_json(void); /* names of built-in schemas, per target */
TS_API char *ts_schema_text(const char *name, const ts_options *o, ts_error *e); /* a built-in one for o's target */
/* What a target keeps on disk for processes to come, under o's target and cache_folder: "path", "usable", "entries",
 * "bytes", the "limit" that it is kept to, "notes"; and a "list" of all entries, oldest use first. */
TS_API char *ts_cache_json(const ts_options *o, ts_error *e);
/* The same with "good" and "damaged" for "list": every entry is read, and one that is damaged set aside. */
TS_API char *ts_cache_check(const ts_options *o, ts_error *e);
/* The same with "removed" and "freed" bytes: if entries take more than limit bytes (below 0: than it is kept to), those
 * used longest ago go until three quarters are left. Processes that use the cache meanwhile are not disturbed. */
TS_API char *ts_cache_prune(const ts_options *o, int64_t limit, ts_error *e);
TS_API char *ts_targets_json(void);                             /* name, usable, with what or the reason why not */
TS_API const char *ts_target_usual(void);                       /* the name of the target that NULL stands for */
TS_API char *ts_machine_json(const ts_options *o, ts_error *e); /* cores, caches, isas, free memory, rates */
/* The same of this machine, when the rates by which plans are decided have been measured, a tenth of a second, and kept
 * in the cache, as the first plan does where there are none; an error where they cannot be kept. */
TS_API char *ts_machine_calibrate(const ts_options *o, ts_error *e);

#ifdef TS_SITES
#define ts_input(g, ...) ts_input(ts_at(g, __FILE__, __LINE__), __VA_ARGS__)
#define ts_weight(g, ...) ts_weight(ts_at(g, __FILE__, __LINE__), __VA_ARGS__)
#define ts_constant(g, ...) ts_constant(ts_at(g, __FILE__, __LINE__), __VA_ARGS__)
#define ts_scalar(g, ...) ts_scalar(ts_at(g, __FILE__, __LINE__), __VA_ARGS__)
#define ts_call(g, ...) ts_call(ts_at(g, __FILE__, __LINE__), __VA_ARGS__)
#define ts_call1(g, ...) ts_call1(ts_at(g, __FILE__, __LINE__), __VA_ARGS__)
#define ts_call2(g, ...) ts_call2(ts_at(g, __FILE__, __LINE__), __VA_ARGS__)
#define ts_call3(g, ...) ts_call3(ts_at(g, __FILE__, __LINE__), __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
