/* train.h - what main.c is told of the run. An emitted program has its own in place of this one, which is of the
 * smallest run and has main.c compiled here as the rest is. Constants alone: nothing to own. */
#pragma once

enum { UPDATES = 1, PARTS = 1, BATCH = 1 }; /* an update takes PARTS batches */
enum { WEIGHTS = 0, OTHERS = 0 };           /* states: weights, then the optimizer's, then sums of gradients */
enum { INPUT_STEP = -1, INPUT_RANDOM = -1, INPUT_LAST = -1 }; /* numbers of inputs; -1: there is none */
enum { SKIP = 0 };                                            /* go on after a step that is not finite */
enum { OUTPUT_SCALE = -1 }; /* number of the output with the loss scale; -1: there is none */
#define SEED UINT64_C(0)

/* Where each state begins in its safetensors file, behind the description. */
static const long long state_at[] = {0};
