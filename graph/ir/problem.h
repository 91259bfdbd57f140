/* problem.h - the problems that an operation's record states, built: what tables of support and gradients ask about,
 * and what a line of the command is ("matmul f32[512,512] f32[512,512]"). A line is read into a problem and printed
 * from one. Its texts and nodes are the graph's, and live as long; what is refused leaves its reason there. */
#pragma once
#include "graph/ir/graph.h"

enum { PROBLEM_OPERANDS = 64 };
typedef struct problem_operand {
    type type;
    bool absent, carries, known; /* carries: "*", the values; known: "=2", the line states the value */
    int64_t below;               /* "<5": of integers, values are in [0, 5); 0: not stated */
    double value;
} problem_operand;

typedef struct problem {
    const op *op;
    int n;
    problem_operand operand[PROBLEM_OPERANDS];
    const char *attributes; /* "axis=1 keepdims=0", as the line has them */
    const node *in[PROBLEM_OPERANDS];
    const node *y; /* NULL: not built, or refused, and the graph says why */
} problem;

/* Whether what stands behind an operation's name, " f32[2,3] ...", begins with an operand: it is meant as a line. */
bool problem_begins(const char *line);
/* Whether a line that somebody wrote, without the operation's name, has operands as lines have them; problem_read
 * takes what it is given. */
bool problem_check(const char *line, err *e);
/* line: of op->cases, n bytes without its end. Texts go to mem; nothing is built. */
void problem_read(arena *mem, const op *o, const char *line, size_t n, problem *out);
/* The line with the operation's name in front: what follows that is read back to the same problem. */
void problem_print(text *t, const problem *p);
/* The line read, operands as inputs; integers whose value the line states, as constants.
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
