/* bench.h - measuring one model under several schemas and in other runtimes, and saying which is faster.
 *
 * What is timed: every contestant (a schema, or a peer runtime) is a process of its own that answers lines on a pipe.
 * Results are compared with a plain f64 evaluation first; what is wrong is INVALID and gets no time. The rest run in
 * random order within each round, over several launches, stopped (SIGSTOP) while others run. See docs/bench.md for the
 * protocol.
 * Needs: a verb "bench-worker" of the program that calls bench_worker; the model in the form that ts_model_open takes.
 * Ownership: every char* that is handed out is freed with free(). Nothing here prints; text and JSON are returned.
 *
 * The room:  run -> race: contestant, peer, verify, process <-> worker     results -> stats, compare -> report/
 *            rounds  who is timed, in processes of their own               one file     verdicts          for people
 *            sweep, suite: many races; networks: what a suite is of
 *            machine/: clock, processors, environment, ceilings; peers/: other runtimes */
#pragma once
#include "tessera.h"

#include <stdbool.h>
#include <stdint.h>

enum { BENCH_MOST_LAUNCHES = 1000, BENCH_SAMPLES = 30 }; /* samples of a contestant that are wanted */
/* What is 0 is taken as bench_usual has it, or as is said here. */
typedef struct bench_options {
    const char *model; /* a built-in name, a file or a folder; required */
    const char *graph; /* graph/1 as text, which model is then the name of; NULL: none */
    int n_dims;        /* "seq=128" */
    const char *const *dims;
    int n_limits; /* "steps=1M", as ts_model_open_within takes them */
    const char *const *limits;
    int n_inputs; /* "NAME=FILE.npy"; inputs that are not given come from the seed */
    const char *const *inputs;
    int n_schemas; /* files or names of built-in schemas; none: the guess alone */
    const char *const *schemas;
    int n_peers; /* "onnxruntime": a script of that name in peers/ */
    const char *const *peers;
    bool absent_peers; /* those that are not installed are ABSENT in the results; else they are mistakes */
    /* A training step in place of a pass: what the run is told (train/options.h), its data drawn; NULL: a pass */
    const struct train_options *train;
    const char *target, *isa, *cache_folder; /* as in ts_options */
    const char *judge;                       /* the target that says what is right; NULL: plain loops in f64 */
    int threads;                             /* 0: one per core of the affinity mask */
    bool as_written, reproducible;           /* as in ts_options */
    const char *precision;                   /* of products of a pass: "bf16", "f16"; NULL: as the model has it */
    const char *mem_limit;                   /* as in ts_options */
    /* Seconds of samples per contestant over all launches; 0: the usual ones, and enough samples to judge by */
    double min_time;
    /* Seconds from the first launch in which more launches may follow the wanted ones while an interval is too wide to
     * decide; 0: none, and as usual where no min_time is given either */
    double max_time;
    int launches;        /* at most BENCH_MOST_LAUNCHES */
    double threshold;    /* differences below this share do not matter */
    double tolerance;    /* of the largest output; 0: 16 times the eps of the precision, else by dtype (verify.c) */
    double timeout;      /* seconds that one answer of a contestant may take */
    uint64_t seed;       /* of inputs, orders and resampling */
    const char *program; /* what to execute as a worker; NULL: this program */
    const char *peers_folder; /* NULL: found from the program's place */
    const char *python;       /* runs peers */
    const char *resume;       /* partial results/1 of this race, to go on from; NULL: from the start */
    const char *repro;        /* the command line, kept in the results; may be NULL */
    void (*progress)(void *user, const char *what, int done, int total);
    void *user;
} bench_options;
extern const bench_options bench_usual;

/* Of results that a signal cut short: the signal, which the caller is to raise when they are safe; else 0. */
int bench_stopped(const char *results);
bool bench_timed_out(const char *results); /* a contestant did not answer within options.timeout */

/* Measures and gives the results/1 object as JSON. False when nothing could be measured because of the user's model,
 * schema or options: e has the code and reason. A contestant that is wrong, dies or hangs is INVALID in
 * the results instead. */
bool bench_run(const bench_options *o, char **results, ts_error *e);

/* Compares candidates of the same name, or the only ones, of two results/1 texts: "after vs before".
 * comparison/1 JSON. */
typedef struct compare_options {
    const char *before, *after;           /* results/1 texts */
    const char *before_name, *after_name; /* for the reader: file names */
    double threshold;                     /* 0: as bench_usual has it */
    /* Else different machines, threads, models or inputs are refused (TS_USAGE) */
    bool allow_env_diff;
} compare_options;
bool bench_compare(const compare_options *o, char **comparison, ts_error *e);

/* True when a verdict in results or comparison JSON is the one named ("slower", "undecided"), or a status ("invalid"):
 * for --fail-on. */
bool bench_has_verdict(const char *json, const char *verdict);

/* The hidden verb: takes no arguments, reads its task and commands from stdin, answers on stdout. Gives the
 * exit code. */
int bench_worker(int argc, char **argv);

/* Names of the runtimes that can be timed beside ours, as "onnxruntime, pytorch". */
void peers_known(char *out, size_t size);
