/* decoding.h - bench --decode N: tokens a second of a prompt, and of N tokens behind it. Options are only read, and
 * the reply is printed only where all went well. */
#pragma once
#include "cli/args.h"

bool decoding_bench(const args *a, ts_error *e);
