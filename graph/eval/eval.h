/* eval.h - values of nodes: the interpreter, what constants say while a graph is made, and what leaves hold. Values
 * that are found for a graph are its own, and live as long; an array that the interpreter fills is its caller's. */
#pragma once
#include "graph/ir/graph.h"

/* The value of a node that depends on constants, and inputs that have a value, only, if it has at most `most` elements;
 * NULL otherwise: for what is done without it too. Memoised in g. */
const ts_array *g_value(graph *g, const node *n, int64_t most);
/* The same where a shape or the flow depends on it, whatever its size, as long as all values of the graph that are
 * found so are worth g->most_work elements; beyond, it is NULL and g->tired. */
const ts_array *g_needed(graph *g, const node *n);
/* Refuses because of such a value that is not known: with inputs given, the call may be possible. False. */
bool g_wait(graph *g, err *e, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* The same of a constant alone. An input stays free, whatever it is now: for what can be done without the value too. */
const ts_array *g_constant(graph *g, const node *n, int64_t most);

/* The interpreter: evaluates one node that is no leaf from its inputs' arrays into out, a new array. Reals
 * in double. */
bool node_eval(const node *n, const ts_array *const *in, ts_array *out, err *e);
/* The same, where the points of a fold of several values that has a merge are parts, which are then merged: point i is
 * of part of[i % period]. For who judges merges. */
enum { EVAL_PARTS = 16 };
typedef struct eval_parts {
    int n; /* at most EVAL_PARTS */
    int64_t period;
    const int *of;
} eval_parts;
bool node_eval_parts(const node *n, const ts_array *const *in, const eval_parts *parts, ts_array *out, err *e);
/* As plans that judge compute: reals are f64 from the arrays of in, which hold f64 or what the node says, to out. */
bool node_eval_wide(const node *n, const ts_array *const *in, ts_array *out, err *e);
/* Calls what a routine without `run` stands for: a function of this process, which of a wide call may take reals in the
 * dtypes of the node alone, or all trips of a scan. */
bool routine_call(const routine *r, const host_call *c, err *e);
/* What a seeded or borrowed leaf holds, row-major, into `to`, elements [first, end). */
void leaf_read(const node *n, void *to, int64_t first, int64_t end);
