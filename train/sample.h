/* sample.h - which token comes next, drawn from logits: a function of its arguments alone, without a state.
 * Logits are only read; equal arguments give the same token everywhere. */
#pragma once
#include "tessera.h"

typedef struct sampling {
    double temperature; /* logits are divided by it; 0: always the likeliest token */
    int64_t top_k;      /* only the likeliest k; 0: all */
    double top_p;       /* only the fewest of the likeliest that have this share together; 1: all */
} sampling;
/* u in [0, 1): falls on a token, the likeliest first, of equally likely ones the lower id. -1: no memory. */
int64_t sample_token(const sampling *s, const double *logit, int64_t n, double u);
