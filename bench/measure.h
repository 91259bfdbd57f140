/* measure.h - what an array holds, in four numbers. A plain value; the array is only read. */
#pragma once
#include "tessera.h"

typedef struct measure {
    int64_t count, bad;    /* elements; of them NaN or infinite, left out of the rest */
    double min, max, mean; /* NaN if nothing is left */
} measure;
measure measure_array(const ts_array *a);
