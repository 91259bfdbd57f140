/* rates.h - what a core does in a cycle by one instruction set, while all cores work: the figures by which plans are
 * decided. Measured once for a machine (calibrate.c), or derived from the set alone. Whole numbers in coarse steps: two
 * measurements of one quiet machine give the same record, and one text the same plan everywhere. A plain value.
 *
 * Text, a word of a machine's line with all of them in this order:
 *   rates:avx512(clock=3300,fma=200,latency=4,l1=12000,l2=5600,l3=820,memory=470,near=1800,far=820,seen=12,start=150)
 * A last word, disturbed, where other work was in the way when they were measured.
 * Derived, for vectors of v bytes: clock=3000, fma=200, latency=4, l1=200v, l2=100v, l3=36.7v, memory=18.75v,
 * near=far=l3, seen=25, start=1000. */
#pragma once
#include "graph/base/base.h"

typedef enum rate_kind {
    RATE_CLOCK,   /* MHz, while vectors are multiplied and added */
    RATE_FMA,     /* vectors multiplied and added; here and below, in hundredths of one a cycle */
    RATE_LATENCY, /* cycles until a sum can be added to */
    RATE_L1,      /* bytes that are read from each level */
    RATE_L2,
    RATE_L3,
    RATE_MEMORY,
    RATE_NEAR, /* bytes that a pass over values goes through, reads and writes, where these stay in the second cache, */
    RATE_FAR,  /* and where they do not */
    RATE_SEEN, /* of multiplying and loading, the share of the shorter that the longer does not hide; percent */
    RATE_START, /* nanoseconds until all cores have met between two kernels */
    N_RATE
} rate_kind;
typedef struct isa isa;
typedef struct rates {
    const isa *of; /* NULL: nothing is known */
    int64_t at[N_RATE];
    bool disturbed; /* measured beside other work: to be measured again */
} rates;

rates rates_derived(const isa *of);
/* As measured, in steps; what was known before, or NULL, stays where it is less than a step away. What is out of range
 * is brought to its end. */
rates rates_stepped(const isa *of, const double measured[N_RATE], const rates *before);
bool rates_read(const char **s, rates *r); /* what stands behind "rates:"; false: it is none, or out of range */
void rates_print(text *t, const rates *r); /* the word */
void rates_json(text *t, const rates *r);  /* an object, as doctor shows it */
