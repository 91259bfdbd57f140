/* expr.h - the value of one element as a function of loop axes, and the table of scalar functions it is made of.
 * Expressions are immutable and shared; they live in the arena that built them. Every expression has a dtype: literals
 * are weak (they take the dtype of what they meet), axes are i64, loads have their node's dtype. */
#pragma once
#include "graph/ir/type.h"

typedef struct ts_node node;
enum { MAX_AXIS = 20, MAX_ARG = 4, MAX_PART = 64, MAX_STATE = 4, MAX_SIZE = 4 };

/* Dtype of a call: promoted arguments, bool, or of arguments 2.. */
typedef enum fresult { R_SAME, R_BOOL, R_SECOND } fresult;

/* fn: a scalar function; the only place that knows what it means. */
typedef struct fn {
    const char *name; /* in definitions and dumps; infix operators have names too: "add" */
    int arity;
    fresult result;
    double (*real)(const double *x);    /* on real arguments; NULL: not defined for them */
    int64_t (*whole)(const int64_t *x); /* on integers and truth values; NULL: arguments become f64 first */
    /* C-like spelling; $0 $1 $2 are arguments, a trailing f is added to libm names: "exp@($0)" */
    const char *c_real, *c_whole;
    const char *diff[3]; /* derivative by a, b, c over a b c and y (the result); NULL: none */
    double unit;         /* start value when folding an axis; NAN: may not fold */
    int cost;            /* flops; 0 for selection and comparison */
    int steps;           /* additions in the time of one call: divisions and roots count as one in flops alone */
    int monotone;        /* 1: rises or falls in each argument alone; 2: where the second keeps its sign; 0: not said */
    int64_t (*natural)(const int64_t *x); /* on u64, the bits of which x holds; NULL: as whole */
    const char *c_natural;                /* NULL: as c_whole */
} fn;
typedef struct scalars scalars; /* the functions of one graph (scalar.h): each an fn without any spelling */
const fn *fn_find(const char *name);
const fn *fn_at(int i);                                   /* NULL past the end */
int64_t fn_whole(const fn *f, dtype d, const int64_t *x); /* d: of the arguments, a dtype of whole or truth values */
const char *fn_spelled(const fn *f, dtype d);             /* as c_real and c_whole, for such arguments */

/* A C function: for what no expression says, as sorting. Compiled into the library from graph/routines/NAME.c, and that
 * file's text travels with generated programs, so it includes nothing but C headers. at: the operands, row-major, then
 * the result; types: one character each: f d (reals of 4, 8 bytes) l u (i64, u64) b (bool); parameter: numbers that the
 * operation chose, extents as a rule. Part `part` of `parts` does its share; scratch is its own. */
typedef void routine_code(void *const *at, const char *types, const int64_t *parameter, char *scratch, long part,
                          long parts);
/* A function that stays in this process, as kernels of custom operations do: in its place nothing can be written. */
typedef struct host_call {
    const node *node;
    const ts_array *in; /* its operands */
    ts_array *out;      /* its value */
    int part, parts;
    bool wide; /* in and out hold reals as f64, whatever the node's dtypes are; leaves among them may not */
} host_call;
typedef bool host_code(const host_call *c, err *e);
typedef struct routine { /* as one node calls it */
    const char *name;    /* of the file; the function is routine_NAME */
    routine_code *run;
    int n_parameter;
    const int64_t *parameter;
    int64_t scratch; /* bytes that a part needs */
    host_code *host; /* in place of run and its text; neither: all trips of a scan, by the interpreter */
    bool wides;      /* host takes calls that are wide; to others reals come in the dtypes of the node */
    bool copies;     /* then it makes the result of operand 0's bytes, from parameter[0] on, as they are */
    bool sets; /* parameter[0] is how many sets, one behind the other in all operands and the result, are done apart */
} routine;
/* As a routine takes it; wide: reals are stored as f64. MUST be one of those above. */
char routine_type(dtype d, bool wide);
extern const struct routine_text { /* written by the build; ends with {0} */
    const char *name, *text;
} routine_texts[];

/* The last three are only ever the whole value of a definition.
 * Scatter, the second form of storing: the result starts as arg[0], over the result's axes; then, for every point of
 * the axes `folds` in index order, arg[1] is put in at the subscripts arg[2...]: combined by fn with what is there, or
 * in its place when fn is NULL.
 * Routine: arg[...] are loads of its operands, over axes that stand for all of each.
 * Scan, a fold that carries several states and may keep each: state k starts as arg[k] and becomes arg[n_state + k],
 * over the states before the step, in index order: at every point of the axes `folds`, the value being arg[2 n_state]
 * when all is done; or, where there are none, along the result's axis `axis`, the value at each point being that after
 * its step. A fold of several values may have a merge in arg[2 n_state + 1...]: state k after the points of two sets,
 * whichever these are, over the states after the one (0, 1, ...) and those after the other (n_state, ...), each of
 * which began at the start. What follows such a fold may be fused behind it, as behind one of one value. */
typedef enum xkind {
    X_LIT,
    X_AXIS,
    X_SIZE, /* an extent that is known when a program runs, one of MAX_SIZE; plans alone have some (extents.h) */
    X_LOAD,
    X_CALL,
    X_CAST,
    X_FOLD,
    X_STATE,
    X_SCATTER,
    X_ROUTINE,
    X_SCAN
} xkind;
typedef struct expr expr;
struct expr {
    xkind kind;
    dtype dtype;        /* TS_N_DTYPE: a weak literal */
    double lit;         /* X_LIT, real */
    int64_t whole;      /* X_LIT, exact integer value when is_whole */
    bool is_whole;      /* X_LIT */
    int axis;           /* X_AXIS; X_SIZE, X_STATE: which one; X_SCAN: of a scan */
    int n_state;        /* X_SCAN */
    uint32_t folds;     /* set of axes folded away, 1u << axis; else 0 */
    const node *from;   /* X_LOAD: the node read, never an operand number */
    const fn *fn;       /* X_CALL, X_FOLD, X_SCATTER */
    const routine *run; /* X_ROUTINE */
    int n;
    const expr *const *arg; /* call: arguments; load: one subscript per dimension; cast, fold: the body */
};

const expr *x_real(arena *mem, double v);
const expr *x_whole(arena *mem, int64_t v);
const expr *x_unit(arena *mem, const fn *f, dtype d); /* the literal that a fold of nothing is */
int64_t x_unit_whole(const fn *f, dtype d);           /* the same of integers and truth values, as a number */
const expr *x_truth(arena *mem, bool v);
const expr *x_axis(arena *mem, int axis);
const expr *x_size(arena *mem, int which);
const expr *x_load(arena *mem, const node *from,
                   const expr *const *subscript);                            /* as many subscripts as from has dims */
const expr *x_element(arena *mem, const node *from);                         /* its element at axes 0, 1, ... */
const expr *x_apply(arena *mem, const fn *f, int n, const expr *const *arg); /* one of a graph stays a call */
const expr *x_cast(arena *mem, dtype to, const expr *a);                     /* no-op when a has that dtype */
const expr *x_fold(arena *mem, const char *fn, uint32_t axes, const expr *body);
/* part: the start, the update, a subscript for each dim of the result; fn NULL: the last one stays. Over all axes in
 * `axes`. */
const expr *x_scatter(arena *mem, dtype d, const char *fn, uint32_t axes, int n, const expr *const *part);
/* Loads of the operands over all axes in `axes`. */
const expr *x_routine(arena *mem, dtype d, const routine *run, uint32_t axes, int n, const expr *const *operand);
const expr *x_state(arena *mem, dtype d, int k);
/* States have the dtypes of start, the value that of result. folds: of a fold; axis: of a scan, when folds is 0. */
const expr *x_scan(arena *mem, uint32_t folds, int axis, int n, const expr *const *start, const expr *const *step,
                   const expr *result);
/* With that merge; merge NULL: as it follows from the steps, or x itself where none does (merge.c). */
const expr *x_merged(arena *mem, const expr *x, const expr *const *merge);
const expr *x_merge(const expr *x, int k);     /* of state k; NULL: x has none */
const expr *x_result(const expr *x);           /* of a scan */
bool x_folds(const expr *x);                   /* a fold of one value, or of several with a merge */
const expr *x_find_fold(const expr *x);        /* the one in x, or NULL */
const expr *x_find(const expr *x, xkind kind); /* the first part of that kind, what a load's subscripts hold included */
const expr *x_uncast(const expr *x);           /* without the casts around it */
bool x_is_call(const expr *x, const char *name);
bool x_is_choice(const expr *x);                  /* select(condition, then, else) */
bool x_folds_by(const expr *x, const char *name); /* a fold of one value by that function */
bool x_is_lit(const expr *x, double v);           /* a literal that is no whole number */
bool x_alone(const expr *x);                      /* the whole of a definition: scatter, routine, scan */
const expr *x1(arena *mem, const char *fn, const expr *a);
/* Folds literals and x+0, x*1, ... of integers */
const expr *x2(arena *mem, const char *fn, const expr *a, const expr *b);
const expr *x3(arena *mem, const char *fn, const expr *a, const expr *b, const expr *c);
const expr *x_both(arena *mem, const expr *a, const expr *b); /* conditions; NULL: nothing is asked */

typedef struct names {
    int n;
    const char *name[MAX_RANK + MAX_AXIS + 2 * MAX_STATE];
    const expr *value[MAX_RANK + MAX_AXIS + 2 * MAX_STATE];
    scalars *own; /* functions of the graph; NULL: those of the table alone */
} names;
/* "max(a, 0)", "x < 0 ? 0 : x*x": + - * / % < <= > >= == != ! && || ?: unary minus, calls of the table and of
 * known->own, casts "f32(a)", numbers, names; "a[i, j+1]" where a's value is a load: the element of that tensor. In
 * front of a value, also in brackets: "let t = x * x; ", "let r, p = polar(x, y); " for several results, and
 * "while (c, 20) x = e, y = f; ", at most 20 steps. Calls of own functions stay calls (x_expand), unless all arguments
 * are numbers. */
const expr *x_parse(arena *mem, const char *source, const names *known, err *e);
/* Loads as label[...] */
void x_print(text *t, const expr *x, const char *(*axis_name)(void *user, int axis), void *user);

/* The same without folds, as x_parse reads it back, without blanks; end writes axes, loads and states. */
void x_write(text *t, const expr *x, void (*end)(text *t, const expr *x, void *user), void *user);

const expr *x_again(arena *mem, const expr *x, const expr *const *arg); /* the same over other parts */
/* What was found of expressions, by pointer: most are few, and need no memory. Owned ones are to be freed. */
typedef struct x_memo {
    const expr *key, *value;
} x_memo;
typedef struct x_memos {
    x_memo first[64], *slot, *owned; /* open addressing, at most half full */
    size_t n, cap;
} x_memos;
x_memo *x_memo_of(x_memos *m, const expr *x); /* with x as its key, where something was kept of it */
void x_memo_keep(x_memos *m, const expr *x, const expr *value);
/* Rebuilds x bottom up, each part passed through f once its arguments have been: the tool of fusion. */
const expr *x_map(arena *mem, const expr *x, const expr *(*f)(void *user, const expr *x), void *user);
/* The same, but places of loads stay. */
const expr *x_map_values(arena *mem, const expr *x, const expr *(*f)(void *user, const expr *x), void *user);
/* Replaces axis i by axis[i] (NULL: kept); an axis that is folded may only become another axis. */
const expr *x_rename(arena *mem, const expr *x, int n_axis, const expr *const *axis);
const expr *x_share(arena *mem, const expr *x);        /* equal parts become the same part */
uint32_t x_axes(const expr *x);                        /* free axes */
int x_loads(const expr *x, const expr **out, int max); /* distinct loads, in order of appearance; the number found */
int x_parts(const expr *x);                            /* nodes of the tree, shared parts counted each time */
int x_count(const expr *x, xkind kind);                /* occurrences, shared parts counted each time */
bool x_checks(const expr *x);                          /* a place that data say is tested in it: a call of `at` */
bool x_same(const expr *a, const expr *b);             /* structural */
const expr *x_replace(arena *mem, const expr *x, const expr *from, const expr *to); /* every part that is the same */

/* The derivative of x by `by`, a load or a state (every part of x that is the same), without simplifying reals beyond
 * 0, 1 and -1. NULL with *e unset: it is 0. Folds count as constants. */
const expr *d_expr(arena *mem, const expr *x, const expr *by, err *e);
/* A product where NULL is 0; a selection that may give 0 stays outside, so that 0 * inf is not met. */
const expr *d_mul(arena *mem, const expr *a, const expr *b);
const expr *d_add(arena *mem, const expr *a, const expr *b); /* a sum where NULL is 0 */
