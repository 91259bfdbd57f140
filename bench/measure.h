/* measure.h - what an array holds, in four numbers, and how far two are from each other. Plain values; arrays are only
 * read. */
#pragma once
#include "tessera.h"

typedef struct measure {
    int64_t count, bad;    /* elements; of them NaN or infinite, left out of the rest */
    double min, max, mean; /* NaN if nothing is left */
} measure;
measure measure_array(const ts_array *a);

double off_by(double got, double want); /* 0 where they are equal, NaN too; a NaN alone is infinitely far */
typedef struct apart {
    double most, scale; /* the largest of those, and the largest wanted number that is finite */
    int64_t worst;      /* where it is */
} apart;
apart array_apart(const ts_array *got, const ts_array *want); /* of one shape */
