/* lane_op.h - operations on vectors, by the names that trees have for them: one row says what counts and walks ask.
 * Rows are constant. */
#pragma once
#include "backends/codegen/cexpr.h"

/* What is done with memory: $0 is a place there, which is read, or written; $0, vectors in registers, become others; so
 * do those of a block in memory. */
typedef enum lane_use { OF_VALUES, READS, WRITES, TURNS, TURNS_BLOCK } lane_use;
/* What it moves: a vector; so many elements as the last argument says; one; two in the bytes of one; one as it lies */
typedef enum lane_span { A_VECTOR, AS_TOLD, A_WORD, IN_PAIRS, AN_ELEMENT } lane_span;
typedef struct lane_op {
    const char *does;
    lane_use use;
    lane_span span;
    size_t counts; /* as which of op_counts */
} lane_op;

const lane_op *lane_op_of(const cexpr *x); /* of what is in no row, and of what is none at all: of values */
int64_t lane_op_bytes(const cexpr *x);     /* that it reads or writes at its place */
