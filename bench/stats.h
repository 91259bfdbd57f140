/* stats.h - what samples say: quantiles, intervals by resampling, and the verdict of a comparison.
 * Samples are nested in launches (process starts), because launches differ by more than chance inside one of them.
 * Everything is a pure function of the samples and a seed. Nothing is kept; arrays stay the caller's. */
#pragma once
#include "bench/report/outcome.h"
#include "graph/base/stats.h"

#include <stdbool.h>
#include <stdint.h>

/* Values of launch l are v[start[l]] .. v[start[l + 1] - 1]; start has launches + 1 entries, start[0] == 0. */
typedef struct sample_set {
    int launches;
    const int *start;
    const double *v;
} sample_set;

/* Samples that count, by launch as in a sample_set. Owned. */
typedef struct series {
    double *v;
    int *start;
    int launches, n, aside;
} series;

/* Without those that are set aside; aside[i] is of all->v[i]. Which ones these are: bench/state.h. */
series series_of(const sample_set *all, const bool *aside);
sample_set series_set(const series *s); /* borrows */
void series_free(series *s);

enum { FEWEST_LAUNCHES = 3 }; /* that tell how much launches differ: with fewer, equality cannot be shown */

typedef struct interval {
    double low, high;
} interval;

typedef struct comparison {
    outcome verdict;   /* of a against b */
    double ratio;      /* time of b / time of a: above 1 where a is faster */
    double low, high;  /* 99 % interval of ratio */
    double detectable; /* smallest relative difference that could have been told from none, 0.01 = 1 % */
    int launches, pairs;
} comparison;

/* Interval of the median at a confidence such as 0.95: resamples launches, then samples within each, 10,000 times. */
interval stats_median_interval(const sample_set *s, double confidence, uint64_t seed);

/* Paired: a and b have the same launches and counts, and values with one index were taken one after the other. */
comparison stats_compare(const sample_set *a, const sample_set *b, double threshold, uint64_t seed);
/* Unpaired: taken apart from each other, as in two result files. */
comparison stats_compare_apart(const sample_set *a, const sample_set *b, double threshold, uint64_t seed);

/* With the interval wider by a ratio of 1 + margin on both sides: what may differ for reasons that the samples do not
 * show. */
comparison stats_allow(comparison c, double margin, double threshold);

/* A number below n, as a pure function of seed and index. */
int stats_below(uint64_t seed, uint64_t index, int n);
