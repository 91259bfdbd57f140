/* trips.h - scans in a program of C: the tables that runtime/walk.h makes their trips by. They hold offsets and counts
 * only: how many trips there are changes a number, not their length. Tables are the caller's, until trip_tables_free;
 * what they were made from is only read. */
#ifndef TS_C_TRIPS_H
#define TS_C_TRIPS_H
#include "backends/c/runtime/walk.h"
#include "backends/codegen/levels.h"

/* Each ends with a row that nothing reads; to be freed. */
typedef struct trip_tables {
    walk_loop *loop; /* of each level; the first is none */
    walk_address *address;
    walk_copy *copy;
    int loops, addresses, copies;
    int inputs; /* the most that a trip has; 1 at least */
} trip_tables;
void trip_tables_make(const levels *l, trip_tables *out);
void trip_tables_free(trip_tables *t);
#endif
