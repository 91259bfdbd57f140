/* cstyle.h - expressions as text of a C-like language: what a stage computes, one element at a time. The generator says
 * how loads, axes and folds are spelled where it stands; the dialect has the rest. A writer is a value of whoever
 * writes: what it points to is borrowed, and text goes to the end of the caller's. */
#ifndef TS_CSTYLE_H
#define TS_CSTYLE_H
#include "backends/codegen/stmt.h"

typedef struct writer {
    const dialect *d;
    arena *mem;    /* of the text of calls that are told numbers first */
    callees *uses; /* what is called is noted there */
    bool wide;     /* reals compute in f64 whatever their dtype */
    void (*load)(void *user, text *t, const expr *x);
    void (*axis)(void *user, text *t, int axis);
    void (*size)(void *user, text *t, int which); /* NULL: none is met */
    void (*fold)(void *user, text *t, const expr *x);
    const char *states, *state; /* before and behind the number of a state: "s", "" for s0, s1, ... */
    void *user;
    int n_temporary; /* numbers of temporaries, t0, t1, ... */
    struct {
        const expr *x;
        int temporary;
    } known[128];
    int n_known;
} writer;

void cstyle_literal(text *t, const dialect *d, const expr *x, bool wide);
void cstyle_expr(writer *w, text *t, const expr *x);  /* to stand beside any operator: in brackets where it has one */
void cstyle_whole(writer *w, text *t, const expr *x); /* to stand alone: between commas, or behind "=" */
/* To be operand k of f, as cstyle_combine writes it */
void cstyle_operand(writer *w, text *t, const fn *f, dtype d, int k, const expr *x);
/* Statements that name what x uses more than once; cstyle_expr(x) then refers to them. */
void cstyle_temporaries(writer *w, code *out, const expr *x);
const char *cstyle_spelled(const writer *w, const expr *x); /* the form of call x */
/* f of a and b, both text; to stand alone */
void cstyle_combine(const writer *w, text *t, const fn *f, dtype d, const char *a, const char *b);
/* What opens a call that turns an element of memory into a value, and back: "half_to_float("; "" where it is one. It
 * lives in mem. uses NULL: it is asked only. */
const char *cstyle_load(arena *mem, const dialect *d, callees *uses, dtype t);
const char *cstyle_store(arena *mem, const dialect *d, callees *uses, dtype t);
#endif
