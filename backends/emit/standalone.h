/* standalone.h - a plan as a program of its own: what is the same for every language. The kernels are called by C: a
 * function `void run(const ts_run *r, long part, long parts)` over the memory that backends/c/runtime/run.h describes.
 * All that is given is borrowed for the call; the text of a unit is the caller's to free.
 *
 * The room:  standalone -> emit_folder: the folder, its tables, weights and Makefile */
#pragma once
#include "backends/backend.h"
#include "backends/codegen/levels.h"
#include "backends/emit/emit_folder.h"

typedef struct emit_code {
    int n_unit;
    const carried_file *unit; /* in C */
    carried_file calls;       /* C that defines `run`, with all that stands in front of it */
    const emit_extra *extra;  /* NULL: C is all there is */
    int64_t scratch;          /* bytes that each part needs */
    int threads;
    const int *cpu;           /* the processor of each thread; NULL: any */
    const char *const *flags; /* of the C compiler, NULL at the end */
    const backend *by;        /* computes weights from others */
} emit_code;
bool emit_allowed(const plan *p, err *e); /* asked first */
bool emit_standalone(const plan *p, const emit_options *w, const emit_code *code, err *e);
/* The layers that it serves (levels.h), and its header; its text with these, to be freed */
void emit_unit_header(text *t, const kernel_text *u, const levels *l, const int *unit_of, int unit);
char *emit_unit_text(const kernel_text *u, const levels *l, const int *unit_of, int unit);
