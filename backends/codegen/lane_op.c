/* lane_op.c - the rows. */
#include "backends/codegen/lane_op.h"
#include "schedule/plan/target.h"

#include <string.h>

static const lane_op rows[] = {
    {"fma", OF_VALUES, A_VECTOR, offsetof(op_counts, multiply_adds)},
    {"dot4", OF_VALUES, A_VECTOR, offsetof(op_counts, dots)},
    {"dot2", OF_VALUES, A_VECTOR, offsetof(op_counts, dots)},
    {"load", READS, A_VECTOR, offsetof(op_counts, loads)},
    {"part", READS, AS_TOLD, offsetof(op_counts, loads)},
    {"pairs", READS, IN_PAIRS, offsetof(op_counts, loads)},
    {"word", READS, A_WORD, offsetof(op_counts, broadcasts)},
    {"splat", READS, AN_ELEMENT, offsetof(op_counts, broadcasts)},
    {"store", WRITES, A_VECTOR, offsetof(op_counts, stores)},
    {"put", WRITES, AS_TOLD, offsetof(op_counts, stores)},
    {"turn", TURNS, A_VECTOR, offsetof(op_counts, others)},
    {"turned", TURNS_BLOCK, A_VECTOR, offsetof(op_counts, others)},
};

const lane_op *lane_op_of(const cexpr *x)
{
    static const lane_op other = {"", OF_VALUES, A_VECTOR, offsetof(op_counts, others)};
    for (int i = 0; x->does && x->of.n && i < COUNT(rows); i++)
        if (!strcmp(rows[i].does, x->does))
            return &rows[i];
    return &other;
}

int64_t lane_op_bytes(const cexpr *x)
{
    const lane_span span = lane_op_of(x)->span;
    int64_t n = span == A_WORD ? 1 : span == IN_PAIRS ? x->of.n / 2 : x->of.n;
    if (span == AS_TOLD)
        cexpr_known(x->arg[x->n - 1], &n);
    return span == AN_ELEMENT ? x->arg[0]->bytes : n * element_bytes(x->of.of);
}
