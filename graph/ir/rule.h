/* rule.h - what several families of operations share: shape rules, lists of axes, calls with ready attributes, and
 * the small questions that ONNX adapters ask. Knows no operation by name. Attribute values are borrowed until
 * g_make has copied them. */
#pragma once
#include "graph/ir/graph.h"

/* Records as rows: call, what makes it, numpy's, operators of ONNX, problems, what it does, and fields beside. It is
 * made by a text, with the promoted dtype of its operands (ELEMENT), a real one (REAL), or bool (TRUTH); by a function
 * that gives an element (BODY); or by one that calls other operations (RECIPE). */
#define BODY(call_, body_, numpy_, onnx_, cases_, ...)                                                    \
    {                                                                                                     \
        .call = call_, .body = body_, .numpy = numpy_, .onnx = onnx_, .cases = cases_, .doc = __VA_ARGS__ \
    }
#define RECIPE(call_, lower_, numpy_, onnx_, cases_, ...)                                                   \
    {                                                                                                       \
        .call = call_, .lower = lower_, .numpy = numpy_, .onnx = onnx_, .cases = cases_, .doc = __VA_ARGS__ \
    }
#define ELEMENT(call_, text_, numpy_, onnx_, cases_, ...)                                                 \
    {                                                                                                     \
        .call = call_, .text = text_, .numpy = numpy_, .onnx = onnx_, .cases = cases_, .doc = __VA_ARGS__ \
    }
#define REAL(call_, text_, numpy_, onnx_, cases_, ...) \
    ELEMENT(call_, text_, numpy_, onnx_, cases_, __VA_ARGS__, .shape = shape_float)
#define TRUTH(call_, text_, numpy_, onnx_, cases_, ...) \
    ELEMENT(call_, text_, numpy_, onnx_, cases_, __VA_ARGS__, .shape = shape_bool)

/* ---- shape rules: extents broadcast as in numpy, the dtype as named ---- */
bool shape_first(const node *n, type *out, err *e); /* operand 0 as it is */
bool shape_float(const node *n, type *out, err *e); /* what numpy's functions of real numbers give: sqrt, exp, ... */
bool shape_bool(const node *n, type *out, err *e);

/* Extents left open (op.extents): of operands that broadcast */
bool extents_pointwise(graph *g, const node *n, int64_t (*dim)[MAX_RANK]);
bool kept_all(const node *n, int k, int i); /* (op.kept) all axes */
bool both_small(const node *n, err *e);     /* whether operands 0 and 1 are integers of at most 16 bits */

/* t with the axes of `places` where that axis was; what: of whom it is, for the error. */
bool type_spliced(const type *t, int axis, const type *places, const char *what, type *out, err *e);

/* Refuses operands by their types: "given f32[2,3], none and i64[]; FMT expected". False. */
bool operands_refuse(int n, const node *const *in, err *e, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* The same for who builds: NULL. */
const node *g_refuse(graph *g, int n, const node *const *in, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Whether a recipe got so many operands; else an error. */
bool g_takes(graph *g, const node *n, int least, int most);

/* ---- axes ---- */
/* The axes listed in attribute a, counted from the end where negative, as a set; absent means all of them. */
bool axes_set(const attr *a, int rank, uint32_t *set, err *e);
/* Attribute `name` as a dtype. */
bool attr_dtype(const node *n, const char *name, dtype *out, err *e);
bool attr_real_dtype(const node *n, dtype *out, err *e); /* `to`, of reals */
bool attr_axis(const node *n, const char *name, int rank, int *out, err *e);

/* ---- calls from recipes and adapters ---- */
/* A list as the two parameters that take one, its count and it: g_callf(g, NODES(x, at), "gather axis=%d", axis) */
#define NODES(...)                                                     \
    COUNT(((const node *const[]){__VA_ARGS__})), (const node *const[]) \
    {                                                                  \
        __VA_ARGS__                                                    \
    }
#define ATTRS(...)                                       \
    COUNT(((const attr[]){__VA_ARGS__})), (const attr[]) \
    {                                                    \
        __VA_ARGS__                                      \
    }
attr attr_int(const char *name, int64_t v);
attr attr_real(const char *name, double v);
attr attr_word(const char *name, const char *v);
attr attr_ints(const char *name, int n, const int64_t *v);
const node *g_apply(graph *g, const char *op, const node *a, int n_attr, const attr *list);
const node *g_apply_n(graph *g, const char *op, int n, const node *const *in, int n_attr, const attr *list);
/* A scalar of a's dtype: what a literal in a recipe becomes. */
const node *g_scalar_like(graph *g, const node *a, double v);
/* The operations that most recipes need, defined beside their records. */
const node *g_reshape(graph *g, const node *a, int rank, const int64_t *shape);
const node *g_transpose(graph *g, const node *a, int rank, const int64_t *axes);
const node *g_broadcast(graph *g, const node *a, int rank, const int64_t *shape);
/* With so many zeros more at both ends of an axis; fewer elements where negative. */
const node *g_padded(graph *g, const node *a, int axis, int64_t before, int64_t behind);
const node *g_repeated(graph *g, const node *a, int64_t n); /* [n, as a...]: a n times */
const node *g_swapped(graph *g, const node *a);             /* the last two axes change places */
/* Elements [start, start + size) along an axis, all along the others. */
const node *g_part(graph *g, const node *a, int axis, int64_t start, int64_t size);
/* A vector along one axis of `rank`, the others of extent 1. */
const node *g_along(graph *g, const node *v, int rank, int axis);
const node *g_count(graph *g, int64_t n, dtype to);                                      /* 0, 1, ... n - 1 */
const node *g_over(graph *g, const char *op, const node *a, int n, const int64_t *axes); /* a reduction, keepdims=1 */
const node *g_scaled(graph *g, const node *a, double by);
const node *g_cast(graph *g, const node *a, dtype to);            /* a itself where it has that dtype */
const node *g_widened(graph *g, const node *a);                   /* halves as f32, to be rounded once at the end */
const node *g_by_channel(graph *g, const node *x, const node *v); /* v[channel] as it broadcasts over x; axis 1 */
/* a's value as another node: what is computed from it is computed once more */
const node *g_rematerialized(graph *g, const node *a);
/* So many trips at most are written out rather than made a scan: then each is an expression in its own right, of which
 * the constants fold. With more, a graph would be long. */
enum { FEW_TRIPS = 16 };
/* Whether so many are; none is where graphs of other extents, which have other numbers of them, are to be compared. */
bool g_few_trips(const graph *g, int64_t trips);
/* Whether a recurrence of so many steps may be written out step by step, some 50 KB of graph each; else an error. */
bool g_may_write_out(graph *g, int64_t steps);
/* Tensors joined along an axis; one is itself. */
const node *g_joined(graph *g, int64_t n, const node *const *part, int64_t axis);
/* y = concat(past, more) kept where `most` have room: an input, into which more is put at places that another says.
 * False: y is something else, or g->err says why not. */
typedef struct goes_on_at {
    const node *past;
    int64_t most;
    const char *label, *places; /* of the two inputs; places: i64[n] */
} goes_on_at;
typedef struct going_on {
    int axis;
    int64_t n;                 /* new elements */
    const node *kept, *next;   /* before, and after */
    const node *past, *joined; /* as they were: first elements of these */
} going_on;
bool g_goes_on(graph *g, const node *y, const node *now, const goes_on_at *at, going_on *out); /* now: y rewritten */
const node *g_product(graph *g, const node *a, const node *b); /* of matrices, as numpy multiplies them */
/* The transpose of a product of two matrices as a product, (a b)' = b' a', for who reads it so; NULL: y is none. */
const node *g_product_turned(graph *g, const node *y);

/* a in that dtype; limited to what it holds, where that is a float of 8 bits or fewer */
const node *g_limited(graph *g, const node *a, dtype to);
const node *g_keys(graph *g, const node *x); /* x in a dtype that routines take, in the same order */

/* ---- tensors of a wanted type, and spelled out (defined in graph/ops) ---- */
const node *g_summed(graph *g, const node *a, int n, const int64_t *axes, bool keepdims); /* a itself when n is 0 */
const node *g_filled(graph *g, const type *t, double v);                                  /* v everywhere */
/* a in type t: summed over the axes along which a value of that type would be repeated, repeated where a would. */
const node *g_fitted(graph *g, const node *a, const type *t);
/* a + b, of one type. Of what is put into places of zeros the places alone are added to the other. */
const node *g_added(graph *g, const node *a, const node *b);
const node *g_formula(graph *g, int n, const node *const *in, const char *text); /* of a, b, ...: "a*exp(b)" */
/* start with values at the places that the last axis of `places` spells out: reduce as "set", "add", "mul", ... */
const node *g_put(graph *g, const node *start, const node *places, const node *values, const char *reduce);
typedef struct spelling { /* over rank axes of the result, then n_fold folded ones: "a[i0,i2]*b[i2,i1]" */
    int rank, n_fold;
    const int64_t *extent;
    const char *fold, *text;
} spelling;
const node *g_element(graph *g, int n, const node *const *in, const spelling *s);
enum { MOST_SPELLED = 8 }; /* operands of a formula or an element */
/* The same with what x says of the nodes that it loads as the text; pointwise, subscripts play no part. */
const node *g_formula_of(graph *g, const expr *x);
const node *g_element_of(graph *g, const spelling *s, const expr *x);
const node *g_fold_of(graph *g, const spelling *s, const expr *x); /* of several values, all that the text says */

/* ---- expressions ---- */
void defn_axes(const defn *d, int n, const expr **sub); /* sub[i] = axis i of the result, for n */
int defn_axis(const defn *d, int rank);                 /* attribute `axis`, which the shape has checked */
const expr *x_offset(arena *mem, const expr *x, int64_t scale, int64_t offset); /* x * scale + offset */
const expr *x_inside(arena *mem, const expr *x, int64_t low, int64_t high);     /* low <= x < high */
/* A place along an axis of that extent, as an integer: negative ones count from the end. One outside is an error of
 * the run, also where it is known: what a value says passes through here, or through "at", before it is a subscript. */
const expr *x_place(arena *mem, const expr *place, int64_t extent);
/* The sum over i of weight[i] * part[i]: what is added first, so that nothing is negated; not all weights are 0. */
const expr *x_weighted(arena *mem, int n, const double *weight, const expr *const *part);
/* of[which], which being a number from 0 to n - 1 */
const expr *x_chosen(arena *mem, const expr *which, int n, const expr *const *of);
/* What a text of ours says over names and their values, which NULL ends: x_said(mem, "a < n", "a", a, "n", n, NULL) */
const expr *x_said(arena *mem, const char *source, ...) __attribute__((sentinel));
/* A literal for a value of dtype d: reals as they are, integers exactly. */
const expr *x_literal(arena *mem, dtype d, double v);
double dtype_lowest(dtype d); /* where a maximum starts */

/* ---- ONNX ---- */
const node *onnx_in(const onnx_call *c, int i); /* NULL where absent */
/* Operand i has lengths of sequences of `time` steps: those of a constant must each be least...time. */
bool onnx_lengths(const onnx_call *c, int i, int64_t least, int64_t time, err *e);
bool onnx_need(const onnx_call *c, int n, err *e); /* the first n operands are there: a file may say anything */
bool onnx_all(const onnx_call *c, const char *which, err *e); /* those marked in "11.1" are there */
bool onnx_must(const onnx_call *c, const char *name, err *e); /* an attribute that has no default */
bool onnx_has(const onnx_call *c, const char *name, int i);   /* as attribute or as input i */
/* The axes that attribute `axes` or, where i is not negative, operand i lists, from 0 on; all where there is neither */
bool onnx_axes(const onnx_call *c, int i, int *n, int axis[MAX_RANK], err *e);
/* Attribute `axis` as a place between axes, 0 to rank: negative ones count from the end. */
bool onnx_cut(const onnx_call *c, int64_t fallback, int rank, int64_t *out, err *e);
const char *onnx_word(const onnx_call *c, const char *name, const char *fallback);
bool onnx_dtype(int64_t code, dtype *out, err *e); /* TensorProto.DataType */
int onnx_code(dtype d);                            /* the same the other way round; 0: the format has none */
/* What the call says, or what its operation has where it is left out */
int64_t onnx_own_int(const onnx_call *c, const char *name);
double onnx_own_real(const onnx_call *c, const char *name);
/* Input i as one number that is known now; an input that is absent leaves *out as it is. */
bool onnx_number(const onnx_call *c, int i, double *out, err *e);
/* Operands a and b of the elementwise operators before version 7: b's axes stand below those of a from attribute `axis`
 * on, or below its last ones. */
bool onnx_aligned(const onnx_call *c, const node *pair[2], err *e);
/* The adapter of such an operator whose operation takes the two as they are. */
bool onnx_adapt_aligned(const onnx_call *c, const node **out, err *e);
/* That of operators along one axis; before version 13 the axes from `axis` on (1 if absent) count as one. */
bool onnx_adapt_along(const onnx_call *c, const node **out, err *e);
/* c's operation: its attributes are those of the call, as the rule's words name them, and those in `more`. */
const node *onnx_made(const onnx_call *c, int n, const node *const *in, int n_more, const attr *more);
/* An operator of the standard domain inside of another's adapter, with c's attributes as far as it has them, and `more`
 * in their place. Its only result, or the first of n_out; NULL: the graph has the reason. */
typedef struct onnx_inner {
    const char *type;
    int version, n_in;
    const node *const *in;
    int n_more;
    const attr *more;
    int n_out;
    const node **out;
} onnx_inner;
const node *onnx_standard(const onnx_call *c, const onnx_inner *i);
/* Ends an adapter: takes the only result, or the graph's reason for having none. */
bool onnx_give(const onnx_call *c, const node **out, const node *result, err *e);
/* The same of several results, as far as they are used */
bool onnx_give_all(const onnx_call *c, const node **out, int n, const node *const *result, err *e);
