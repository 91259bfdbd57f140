/* factors.h - what a difference between two nests is made of, by estimate: vectors, sums in registers, loads,
 * unrolling, ragged edges, cores, traffic. A kernel's time is estimated as the larger of its arithmetic, as its
 * innermost loops can issue it, and its traffic at the probed speeds. Each property's factor is the mean, over all
 * orders in which one nest can be turned into the other property by property, of what its turn changes (Shapley's
 * value, of logarithms): factors multiply to the whole estimate whatever the order. Reports are only read, and what is
 * given is a plain value that points into them. */
#pragma once
#include "bench/report/data.h"

typedef enum property { VECTORS, SUMS, LOADS, UNROLLING, EDGES, CORES, TRAFFIC, N_PROPERTIES } property;
extern const char *const property_name[N_PROPERTIES];

typedef struct factors {
    double measured;         /* time under the slow nest over that under the fast one */
    double of[N_PROPERTIES]; /* each 1 where the nests are alike in it; NAN all when nothing is known of them */
    double estimated;        /* their product */
} factors;
factors factors_of(const report *r, const kernel *slow, const kernel *fast);

/* What traffic goes into, what it comes from, and whose ceiling that is, as kernel.traffic has them */
extern const struct cache_name {
    const char *name, *outside, *ceiling;
} cache_names[3];
double traffic_ns(const report *r, double bytes, int into); /* at the probed speed */
int level_of(const report *r, const kernel *slow);          /* whose traffic takes the slow nest longest */

/* The difference of the explained pair, in ns: what each property accounts for over all kinds that both run with loops
 * of their own, and what nothing here explains. Where an estimate goes beyond what was measured, it is scaled down. */
typedef struct account {
    double of[N_PROPERTIES], open; /* open: of those kinds, not explained */
    double same;                   /* of kinds with the same loops */
    double apart;                  /* of kinds that only one of the two has */
    double ways;                   /* of kinds that they compute in two ways */
    double outside;                /* of the time outside kernels */
    double total;
    const kind *main; /* the one that gains most by its loops; NULL: nothing is known of any */
} account;
account account_of(const report *r);
