/* trial.h - a problem of ADBench under way: the plans of its values and of its derivatives, their times, and how far
 * they are from differences, from a file and from a library of somebody else's. Plan 0 gives the values, plan 1 the
 * values and then the slopes. In f32 there is a third one, of the values in f64, for differences of f32 say little.
 * A trial owns its problem, whatever of it was made, and trial_free releases it. */
#pragma once
#include "models/adbench/objective.h"

typedef void (*trial_function)(const int64_t *size, const void *const *in, double *const *out);

typedef struct trial {
    problem p;
    char *text; /* of the file; owned */
    ts_plan *plan[3];
    ts_model *wide;                   /* in f64, of plan 2; NULL: the problem is in f64 itself */
    ts_array got[2 * OBJECTIVE_MOST]; /* what plan 1 gave last; owned */
    double first;                     /* number of the first value */
    double time[2], other_time[2];    /* seconds; of the library */
    double difference;                /* from differences at most, by ADBench's measure */
    double reference, other;          /* from a file, from the library; NAN: not asked */
    void *library;
    trial_function function[2];
    double *theirs[2 * OBJECTIVE_MOST]; /* what the library gives; owned */
} trial;

/* p.of, p.file (or NULL), p.size and p.single are set; both plans are built and have their inputs. */
bool trial_make(trial *t, const ts_options *o, ts_error *e);
void trial_free(trial *t);
/* A shared object with `tessera_values` and `tessera_slopes`, trial_functions: sizes in the order of the objective's,
 * inputs as its file has them, and where to put values; values, then slopes. */
bool trial_against(trial *t, const char *library, ts_error *e);

typedef struct trial_limits {
    double least;   /* seconds of a sample: runs are repeated until they take so long */
    int samples[2]; /* of values, and of values with slopes: at most so many, of which the shortest counts */
    double most;    /* seconds of all samples of one of them */
} trial_limits;
/* With a library its samples stand between ours. */
bool trial_measure(trial *t, const trial_limits *by, ts_error *e);
bool trial_check(trial *t, ts_error *e);
/* A file of derivatives as ADBench writes them, number by number */
bool trial_compare(trial *t, const char *file, ts_error *e);
/* FOLDER/NAME_F_Tessera.txt, _J_ and _times_ as ADBench has them: 17 digits */
bool trial_write(trial *t, const char *folder, ts_error *e);
