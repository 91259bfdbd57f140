/* cstyle.h - expressions as text of the C-like languages: what a stage computes, one element at a time. Each back end
 * says how loads, axes and folds are spelled where it stands, and overrides the spelling of functions that
 * it has better. */
#ifndef TS_CSTYLE_H
#define TS_CSTYLE_H
#include "schedule/plan.h"

typedef struct spelling { /* a function spelled otherwise by a target; for reals of 4 bytes when narrow, else of 8 */
    const char *fn;
    bool narrow;
    const char *text;
} spelling;

typedef struct writer {
    const spelling *override; /* ends with {0} */
    bool wide;                /* reals compute in f64 whatever their dtype */
    void (*load)(void *user, text *t, const expr *x);
    void (*axis)(void *user, text *t, int axis);
    void (*fold)(void *user, text *t, const expr *x);
    const char *state; /* follows the name of a state, s0, s1, ... */
    void *user;
    int n_temp; /* numbers of temporaries, t0, t1, ... */
    struct {
        const expr *x;
        int temp;
    } known[128];
    int n_known;
} writer;

const char *c_memory(dtype d);           /* type of an element in memory */
const char *c_value(dtype d, bool wide); /* type in which it computes */
void c_literal(text *t, const expr *x, bool wide);
void c_expr(writer *w, text *t, const expr *x);
/* Statements that name what x uses more than once; c_expr(x) then refers to them. Lines go to `out`. */
void c_temporaries(writer *w, text *out, const expr *x);
/* Text that turns an element of memory into a value, and back: "half_to_float(" ... ")"; often "". */
const char *c_load(dtype d);
const char *c_store(dtype d);
#endif
