/* trips.h - scans in a program of C: the functions that make their trips, and the tables that these read. */
#ifndef TS_C_TRIPS_H
#define TS_C_TRIPS_H
#include "backends/c/levels.h"

/* The types of the tables, in front of them, and the functions behind; in place of those of a program without scans. */
void trips_types(text *out);
void trips_walk(text *out);
/* The tables loop, address and copy: one row of loop for each level. */
void trips_tables(const levels *l, text *t);
#endif
