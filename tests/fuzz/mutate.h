/* mutate.h - changes that keep a file's outer form, so that what lies behind the first checks is reached: fields of a
 * protobuf message, values of a JSON text. A target calls one from LLVMFuzzerCustomMutator, or from
 * LLVMFuzzerCustomCrossOver with a second file, pieces of which then take the place of its own. Half of the time, and
 * where the form is broken, bytes are changed as libFuzzer does it. */
#ifndef TS_TEST_MUTATE_H
#define TS_TEST_MUTATE_H
#include "tests/fuzz/fuzz.h"

typedef struct dice { /* the same from the same seed */
    uint64_t seed, turn;
} dice;
size_t dice_below(dice *d, size_t n); /* 0 when n is */

typedef struct piece {
    const uint8_t *at;
    size_t n;
} piece;

/* Appends `in` with one change; false, with nothing appended, when it does not have the form. */
bool mutate_wire(dice *d, piece in, piece other, text *out);
bool mutate_json(dice *d, piece in, piece other, text *out);

/* The whole of a mutator: at most `most` bytes of data are replaced, and counted in the result. */
typedef bool mutation(dice *d, piece in, piece other, text *out);
size_t mutate(mutation *how, uint8_t *data, size_t n, size_t most, unsigned seed);
/* As above, from two files into out. */
size_t mutate_cross(mutation *how, const piece in[2], uint8_t *out, size_t most, unsigned seed);

/* What libFuzzer calls where a target has it. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t most, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t n, const uint8_t *b, size_t m, uint8_t *out, size_t most,
                                 unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t n, size_t most) __attribute__((weak)); /* libFuzzer's own, if linked */

/* An operator of ONNX that this program knows, any of them. */
const char *mutate_operator(dice *d);
#endif
