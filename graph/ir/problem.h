/* problem.h - the problems that an operation's record states, built: what tables of support and gradients ask about,
 * and what a line of the command is ("matmul f32[512,512] f32[512,512]"). A problem's nodes are the graph's, and live
 * as long; one that is refused leaves its reason there. */
#ifndef TS_PROBLEM_H
#define TS_PROBLEM_H
#include "graph/ir/graph.h"

enum { PROBLEM_OPERANDS = 64 };
typedef struct problem {
    int n;
    const node *in[PROBLEM_OPERANDS];
    int64_t below[PROBLEM_OPERANDS]; /* "<5": of integers, values are in [0, 5); 0: not stated */
    const node *y;                   /* NULL: refused, the graph says why */
} problem;

/* Whether what stands behind an operation's name, " f32[2,3] ...", begins with an operand: it is meant as a line. */
bool problem_begins(const char *line);
/* Whether a line that somebody wrote, without the operation's name, has operands as lines have them; problem_build
 * takes what it is given. */
bool problem_check(const char *line, err *e);
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
