/* guess.h - the choice of loops for a graphics processor: from extents, accesses, and the card's figures alone. A
 * person prints its nests, edits one number and gives them back. As in guesser. It keeps nothing of the plan, and the
 * nest is the caller's. */
#pragma once
#include "backends/gpu/gpu.h"
#include "schedule/nest/nest.h"

enum { GPU_L1, GPU_L2, GPU_MEMORY };                                                 /* of target.level */
enum { GPU_SERIAL, GPU_BLOCK, GPU_LANE, GPU_WARP, GPU_MMA, GPU_UNROLL, GPU_VECTOR }; /* of target.role */
/* Cycles until what is asked of memory is there, from the second cache on (Luo and others, "Benchmarking and dissecting
 * the NVIDIA Hopper GPU architecture via microbenchmarking", 2024: 260 to 480). */
enum { GPU_LATENCY = 500 };
enum { GPU_BESIDE = 8 }; /* part of what is not the longest that is not hidden by it */

/* A kernel has extents and loads, of gpu_guess_stage its shared loops too. */
void gpu_guess_shared(const plan *p, const kernel *k, nesting *b); /* loops that all its stages stand in */
/* Of stage `which`, within those; second: see guesser */
void gpu_guess_stage(const plan *p, const kernel *k, int which, nesting *b, text *second);
int64_t gpu_guess_block(const plan *p, const streaming *s); /* places of a block; 0: stays whole */
