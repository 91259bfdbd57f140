/* concurrent.h - bench --concurrent N: requests in parallel, beside one after the other. It opens its own session, and
 * prints the reply only where all went well. */
#pragma once
#include "cli/args.h"

bool concurrent_bench(const args *a, ts_error *e);
