/* passes.h - steps from the statements that are written of a kernel to those that are printed: each is a file with what
 * it requires and guarantees, and works on any tree of statements. They run on a kernel's function and on each of its
 * tiles, in the order of code_passes. New statements are of the arena given; the rest is changed in place. */
#pragma once
#include "backends/codegen/stmt.h"

typedef struct code_pass {
    const char *name, *does, *requires, *guarantees;
    bool (*run)(stmt *in, arena *mem, const dialect *d, err *e);
} code_pass;
enum { N_CODE_PASS = 3 };
extern const code_pass code_passes[N_CODE_PASS];
/* Passes from ... to - 1; false with e set */
bool code_through(stmt *in, int from, int to, arena *mem, const dialect *d, err *e);

bool pass_invariant(stmt *in, arena *mem, const dialect *d, err *e); /* invariant.c */
bool pass_once(stmt *in, arena *mem, const dialect *d, err *e);      /* once.c */
bool pass_barriers(stmt *in, arena *mem, const dialect *d, err *e);  /* barriers.c */
