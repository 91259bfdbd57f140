/* program.h - a plan as C text, one function for each distinct kernel, and as the tables by which runtime/walk.h calls
 * them. Deterministic: the same plan gives the same bytes.
 * The room:  program (dialect, flags, trips) -> units -> toolchain (compiler, cpu)
 *            -> c: weights, runs on team
 *            emission: the same as a program of its own; runtime/: what both kinds share - walk, team, main */
#pragma once
#include "backends/c/runtime/walk.h"
#include "backends/device/trips.h"
#include "backends/cpu/cpu.h"
#include "backends/codegen/codegen.h"

typedef struct c_program {
    int n_text, n_place, calls, all, operands; /* the last three as in walk_program */
    kernel_text *text;                         /* whose operands are those of its first kernel */
    int *text_of;                              /* of each call; -1: it has none */
    walk_call *call;                           /* whose kernels are not known before they are built */
    walk_place *place;
    trip_tables trips;
    int64_t claims, scratch_most; /* bytes: in front of each part's scratch, and of it all */
} c_program;
bool c_program_write(const plan *p, c_program *out, err *e);
void c_program_free(c_program *c);
void c_program_join(c_program *c, c_program *other); /* takes its texts, behind those of its own; other is freed */
void c_program_forget(c_program *c);                 /* the texts: once they are compiled */
walk_program c_program_tables(const c_program *c);
/* Of the compiler, NULL at the end. fused: multiply-adds round once, whether there is an instruction or not */
const char *const *c_flags(arena *mem, const isa *i, bool fused);
/* emission.c: a folder that builds into the same program without Tessera. */
bool c_emit(const plan *p, const emit_options *w, err *e);
/* show.c: by_text.show */
bool c_show(const plan *p, const kernel *k, const char *as, const build_options *w, text *out, err *e);
extern const backend backend_c;
