/* trips.h - scans in a program: the tables that trips are made by (c/runtime/loops.h), on processors and on devices.
 * They hold offsets and counts only: how many trips there are changes a number, not their length. Tables are the
 * caller's, until trip_tables_free; what they were made from is only read. */
#pragma once
#include "backends/c/runtime/loops.h"
#include "backends/codegen/levels.h"

/* Each ends with a row that nothing reads; to be freed. */
typedef struct trip_tables {
    loop_row *loop; /* of each level; the first is none */
    loop_address *address;
    loop_copy *copy;
    int loops, addresses, copies;
    int inputs; /* the most that a trip has; 1 at least */
} trip_tables;
void trip_tables_make(const levels *l, trip_tables *out);
void trip_tables_print(text *t, const trip_tables *g); /* as tables in C */
void trip_tables_free(trip_tables *t);
