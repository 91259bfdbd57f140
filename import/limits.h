/* limits.h - what a model may cost before it runs: files may lie, and a small one may ask for much.
 * A limit is asked before the memory or the work is spent, never after. Plain values, copied. */
#pragma once
#include "graph/base/base.h"

enum {
    FOLD_ELEMENTS = 65536,    /* of a result that becomes a constant */
    MODEL_ELEMENTS_LOG2 = 40, /* which messages name */
};
#define MODEL_ELEMENTS (INT64_C(1) << MODEL_ELEMENTS_LOG2) /* of one tensor */

typedef struct limits {
    int64_t steps;       /* gone through when loops are unrolled and functions inlined, each time counted */
    int64_t folded;      /* bytes of constants that are computed from constants */
    int64_t known;       /* elements gone through for values that decide a shape or the flow */
    int64_t elements;    /* of one value */
    int64_t description; /* bytes of a file without the values that it holds */
} limits;

limits limits_make(void);                          /* those that hold where nobody sets others */
bool limits_set(limits *l, const char *s, err *e); /* "steps=1000000"; K, M, G, T behind a number: powers of 1024 */
/* Sets a refusal's hint: which option allows what was refused. name is that of a field. */
bool limits_hint(const char *name, int64_t need, err *e);
