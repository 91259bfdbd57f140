/* make.h - a plan of a graph, made by the table of passes. It is its caller's, for plan_free, and the graph
 * outlives it.
 *
 * The rooms, each on those before it:  plan     kernels, stages, values, targets, and what these are asked
 *                                      nest     the notation of loops, what is legal, how copies lie
 *                                      schema   rules, and the loops that they choose
 *                                      fuse     nodes become kernels of stages
 *                                      passes   a file for each other step to a plan
 *                                      place    kernels over several devices
 *                                      explain  what people and reports read of a plan; make does not need it */
#pragma once
#include "schedule/plan/plan.h"

typedef struct plan_options {
    const target *on;            /* borrowed for the plan's life */
    const char *target, *schema; /* as in ts_options */
    const char *const *targets;  /* schema_use.known */
    bool reference;
    bool own_places;            /* no result lies over an operand in the arena */
    bool as_written;            /* no operation is replaced by a cheaper way to the same value */
    bool as_given;              /* weights are: what follows from them alone is computed in every run */
    bool trial;                 /* made to be compared with another one, and never run */
    int shares;                 /* what no rule speaks of is recomputed to so many RULE_SHARES (schema.h); 0: none is */
    bool reproducible;          /* as in ts_options; whoever asks for it asks for as_written and whole_sums, too */
    bool whole_sums;            /* what a group sums up is not taken in blocks */
    const variables *variables; /* NULL: all extents are constant */
    int n_state;                /* the last roots: state[i], an input, is to hold what root n_root - n_state + i was */
    const node *const *state;
    const site_finder *finder; /* borrowed for the plan's life; NULL: rules for other devices are refused */
    int n_site;                /* devices that the command names; more than one: the guess spreads kernels over them */
    const site *site;          /* [0]: on, target */
    void (*passed)(void *user, const plan *p, int pass); /* told behind each pass; NULL: nobody */
    void *user;
} plan_options;
extern const pass_record plan_passes[N_PASS];                                                      /* in their order */
plan *plan_make(graph *g, int n_root, const node *const *root, const plan_options *asked, err *e); /* NULL with e set */
