/* guess.h - the choice of loops for a graphics processor: from extents, accesses, and the card's figures alone. What it
 * says is text in the notation, so a person prints it, edits one number and gives it back. As in guesser. It keeps
 * nothing of the plan, and the text is the caller's. */
#ifndef TS_GPU_GUESS_H
#define TS_GPU_GUESS_H
#include "backends/gpu/gpu.h"
#include "schedule/nest/nest.h"

enum { GPU_L1, GPU_L2, GPU_MEMORY }; /* of target.level */
/* Cycles until what is asked of memory is there, from the second cache on (Luo and others, "Benchmarking and dissecting
 * the NVIDIA Hopper GPU architecture via microbenchmarking", 2024: 260 to 480). */
enum { GPU_LATENCY = 500 };
enum { GPU_BESIDE = 8 }; /* part of what is not the longest that is not hidden by it */

/* Each appends to out, the caller's; a kernel has extents and loads, of gpu_guess_stage its shared loops too. */
void gpu_guess_shared(const plan *p, const kernel *k, text *out); /* loops that all its stages stand in */
/* Of stage `which`, within those; second: see guesser */
void gpu_guess_stage(const plan *p, const kernel *k, int which, text *out, text *second);
int64_t gpu_guess_block(const plan *p, const streaming *s); /* places of a block; 0: stays whole */
#endif
