/* ranks.h - explain --ranks N --net TEXT, of a run of tessera train. The run is only read. */
#ifndef CLI_RANKS_H
#define CLI_RANKS_H
#include "cli/args.h"

/* Prints the table, or the document with --json; a usage error where the network is none, or the noun no run. */
bool ranks_explain(const args *a, ts_error *e);
#endif
