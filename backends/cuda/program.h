/* program.h - a plan on one device: its kernels compiled and loaded, its values, weights and inputs in the device's
 * memory, its launches one graph. What the kernels are is theirs; what they wait for is hazard.h's. All of that is the
 * program's until cuda_free; the plan is borrowed for its life. */
#ifndef TS_CUDA_PROGRAM_H
#define TS_CUDA_PROGRAM_H
#include "backends/backend.h"
#include "backends/codegen/levels.h"
#include "backends/cuda/images.h"
#include "backends/cuda/launches.h"
#include "backends/weights.h"
#include "schedule/plan/hazard.h"

/* ---- texts.c: a plan as units of CUDA C, one for each distinct kernel ---- */
typedef struct cuda_texts {
    levels levels; /* of the plan: kernels have their numbers */
    int n_unit, n_kernel;
    kernel_text *unit;   /* whose operands are those of its first kernel */
    int *unit_of;        /* by kernel; -1: it is a scan, a copy, or part of the launch of another */
    kernel_text *kernel; /* by kernel: operands, lanes, parts and bytes; no text */
    /* Of the plan's own kernels, or launches of them; those that share what does not fit into their groups' memory wait
     * for each other */
    hazards hazards;
} cuda_texts;
bool cuda_write(const plan *p, cuda_texts *out, err *e);      /* as they are launched: some of them together */
bool cuda_write_each(const plan *p, cuda_texts *out, err *e); /* each by itself */
void cuda_texts_free(cuda_texts *t);
unsigned cuda_groups(const plan *p, const kernel_text *k); /* that a launch of it has */
enum { SHARED_DECLARED = 48 << 10 }; /* bytes of shared memory that a kernel declares; above it asks at the launch */

/* ---- program.c ---- */
program *cuda_build(const plan *p, const build_options *w, text *facts, err *e);
/* As in backend.h */
bool cuda_time(program *g, void *const *input, double *seconds, err *e);
bool cuda_span(program *g, void *const *input, int first, int end, err *e);
bool cuda_put(program *g, const node *n, const void *from, err *e);
bool cuda_fetch(program *g, const node *n, void *to, err *e);
bool cuda_wait(program *g, err *e);
bool cuda_run(program *g, void *const *input, err *e);
bool cuda_each(program *g, void *const *input, void (*after)(void *user, int kernel), void *user, err *e);
const void *cuda_at(const program *g, const node *n, dtype *stored);
bool cuda_get(program *g, int root, ts_array *out, err *e);
void cuda_free(program *g);

/* ---- assembler.c ---- */
bool cuda_assemble(plan *p, const build_options *w, text *facts, err *e);

/* ---- emission.c: a folder that builds into the same program without Tessera ---- */
bool cuda_emit(const plan *p, const emit_options *w, err *e);

extern const backend backend_cuda;
#endif
