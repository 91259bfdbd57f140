/* program.h - a plan as C text: one unit for each distinct kernel, and one that calls them in order. Deterministic
 * bytes: the same plan gives the same text.
 * The room:  program (dialect, flags) -> toolchain (compiler, cpu) -> loader (elf) -> c: weights, runs on team
 *            standalone, emitdir: programs of their own; runtime/: the team and the main that both kinds share */
#ifndef TS_C_PROGRAM_H
#define TS_C_PROGRAM_H
#include "backends/cpu/cpu.h"
#include "backends/codegen/codegen.h"

typedef struct c_program {
    int n_unit;
    kernel_text *unit;    /* whose operands are those of its first kernel */
    char *calls;          /* the unit that calls kernels: run and step */
    int64_t scratch_most; /* bytes for each part */
} c_program;
bool c_program_write(const plan *p, c_program *out, err *e);
void c_program_free(c_program *c);
const char *const *c_flags(const isa *i); /* of the compiler, NULL at the end */
/* emission.c: a folder that builds into the same program without Tessera. */
bool c_emit(const plan *p, const emit_options *w, err *e);
extern const backend backend_c;
#endif
