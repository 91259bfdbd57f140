/* unraced.h - what bench times in this process, in place of a race. Each opens a session of its own, only reads the
 * options, and prints its reply, or document with --json, where all went well. False with e set. */
#pragma once
#include "cli/args.h"

typedef bool unraced(const args *a, ts_error *e);
unraced concurrent_bench; /* --concurrent N: requests in parallel, beside one after the other */
unraced decoding_bench;   /* --decode N: tokens a second of a prompt, and of N tokens behind it */
unraced extents_race;     /* --at NAME=N: one program for all extents of a dimension against one for each, in turns */
unraced ranked_bench;     /* --ranks: a pass, or with --train a step, over the processes that mpirun started; of all of
                           * them rank 0 prints */
