/* run.h - what a program's function `run` takes: where everything lies, and how parts wait for each other.
 * All that it points to is the caller's and outlives the call; *fault is the one place that several parts write. */
#ifndef RUN_H
#define RUN_H
typedef struct ts_custom { /* kernels that are functions of the process that runs the program */
    void (*call)(const struct ts_custom *c, int kernel, void *const *at, long part, long parts);
} ts_custom;
typedef struct ts_moments { /* when each part began and ended each call; a call of trips is one */
    double (*now)(void);
    double *at; /* [part][call][2]; as it was where a part has no share of a call */
    long calls;
} ts_moments;
typedef struct ts_run {
    char *arena;
    void *const *leaf, *const *input;
    char *scratch;
    long scratch_bytes; /* for each part */
    int *fault;
    void (*wait)(void *team);
    void *team;
    const ts_custom *custom;   /* NULL: there are none */
    const ts_moments *moments; /* NULL: nobody asks */
} ts_run;
#endif
