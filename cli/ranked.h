/* ranked.h - bench --ranks: a pass, or with --train a step, over the processes that mpirun started. Each process opens
 * its own session. */
#pragma once
#include "cli/args.h"

bool ranked_bench(const args *a, ts_error *e); /* of all of them rank 0 prints */
