/* ranks.h - explain --ranks N --net TEXT, of a run of tessera train. The run is only read. */
#pragma once
#include "cli/args.h"

/* Prints the table, or the document with --json; a usage error where the network is none, or the noun no run. */
bool ranks_explain(const args *a, ts_error *e);
