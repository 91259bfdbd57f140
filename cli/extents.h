/* extents.h - one program for all extents of a dimension against programs for one extent each: bench --at.
 * They are run in turns, in this process, with the same values; all are freed when the race is over. */
#pragma once
#include "cli/args.h"

/* Prints extents/1, or its table. False with e set. */
bool extents_race(const args *a, ts_error *e);
