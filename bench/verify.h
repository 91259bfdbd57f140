/* verify.h - is it right before it is timed: outputs in npy files against the reference's.
 * Files are read one pair at a time and only read; nothing is kept but the largest differences. */
#pragma once
#include "graph/base/js.h"
#include "tessera.h"

/* What a result may differ by, of the largest: a few hundred roundings, as deep networks add them up; of all others 0.
 * docs/bench.md says so too. */
double verify_tolerance(ts_dtype d);
#define FEW_BITS 5e-2 /* share of the largest value: how far a last bit of few bits may move a result */

typedef struct numerics {
    double max_abs;   /* largest |got - reference| */
    double max_rel;   /* largest over outputs of: largest |got - reference| / largest |reference| */
    double tolerance; /* that max_rel was held against: the given one, else that of the outputs' dtype */
} numerics;

typedef struct verify_task {
    const char *reference, *got; /* folders with 0.npy, 1.npy, ... */
    int outputs;
    double tolerance;  /* 0: by dtype; integers must always be equal */
    const cJSON *port; /* of each output its name and dtype, which npy files need not say; NULL: they do */
    bool trajectory;   /* elements are of steps one after the other: the first that is wrong is named */
} verify_task;

/* False with the reason when an output is missing, of another shape, or outside the tolerance (TS_NUMERICS). */
bool verify_outputs(const verify_task *t, numerics *out, ts_error *e);
