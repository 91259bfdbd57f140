/* units.h - what the compiler is given: kernels, of which small ones share a unit. Units and texts are of one arena,
 * for c_units_free. */
#pragma once
#include "backends/c/program.h"
#include "backends/c/toolchain.h"

typedef struct c_units {
    int n;
    cc_unit *unit; /* this and texts are in mem */
    arena mem;
} c_units;
void c_units_write(const c_program *c, c_units *out);
void c_units_free(c_units *u);
