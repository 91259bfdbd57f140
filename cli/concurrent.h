/* concurrent.h - bench --concurrent N: requests in parallel, beside one after the other. It opens its own session, and
 * prints the reply only where all went well. */
#ifndef TS_CLI_CONCURRENT_H
#define TS_CLI_CONCURRENT_H
#include "cli/args.h"

bool concurrent_bench(const args *a, ts_error *e);
#endif
