/* measure.h - what an array holds, in four numbers. */
#ifndef TS_MEASURE_H
#define TS_MEASURE_H
#include "tessera.h"

#include <stddef.h>

typedef struct measure {
    int64_t count, bad;    /* elements; of them NaN or infinite, left out of the rest */
    double min, max, mean; /* NaN if nothing is left */
} measure;
measure measure_array(const ts_array *a);
/* "[1, 128, 768]" */
void measure_shape(char *out, size_t size, int rank, const int64_t *dim);
#endif
