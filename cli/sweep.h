/* sweep.h - bench --sweep NAME=VALUES: a race at each point. Options are bench's, and only read. */
#pragma once
#include "bench/bench.h"
#include "cli/args.h"

int sweep_race(const args *a, const bench_options *o, ts_error *e); /* the exit code */
