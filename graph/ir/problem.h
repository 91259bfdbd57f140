/* problem.h - the problems that an operation's record states, built: what tables of support and gradients ask about. */
#ifndef TS_PROBLEM_H
#define TS_PROBLEM_H
#include "graph/ir/graph.h"

enum { PROBLEM_OPERANDS = 64 };
typedef struct problem {
    int n;
    const node *in[PROBLEM_OPERANDS];
    const node *y; /* NULL: refused, the graph says why */
} problem;

/* line: of op->cases, n bytes without its end. Operands become inputs; integers whose value the line states, constants.
 * values: the dtype that operands which carry values get, all of one dtype: the one marked *, as in "u8[3]*", else that
 * of the first real, else of the first operand, whose value the line does not state; TS_N_DTYPE: as the line has it. */
void problem_build(graph *g, const op *o, const char *line, size_t n, dtype values, problem *out);
/* The same through a rule, as a file would have it: attributes are the operator's, reals are known too. */
void problem_adapt(graph *g, const op *o, const onnx_rule *r, const char *line, size_t n, dtype values, problem *out);
/* The next line for rule r at *at, which begins as NULL: those of o->onnx_cases that name its type, or all of o->cases
 * if there is none. NULL at the end. */
const char *problem_of_rule(const op *o, const onnx_rule *r, const char **at, size_t *n);
/* The next line of cases at *at, its length in *n; NULL at the end. */
const char *problem_next(const char **at, size_t *n);
#endif
