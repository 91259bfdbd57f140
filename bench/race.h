/* race.h - a measurement under way: who takes part, what they were asked, what was seen. Shared by the files that run
 * it (run, contestant) and write it down (results). Owned by bench_run; all in it dies with race_free. */
#pragma once
#include "bench/bench.h"
#include "backends/probe/cpus.h"
#include "bench/machine/environment.h"
#include "graph/base/js.h"
#include "bench/process.h"
#include "bench/stats.h"
#include "bench/verify.h"

enum { RACE_PATH = 4096, REASON = 2048 }; /* bytes: PATH_MAX, and of a reason */

typedef enum standing { IN_RACE, INVALID, ABSENT } standing;

typedef struct sample {
    double ns;           /* one pass */
    double canary;       /* the slower of the canaries before and after */
    int taken;           /* how often a processor was taken from one of its threads meanwhile */
    double lost;         /* share of the sample that its threads waited for one; NAN: not told */
    int retaken;         /* how many before it were disturbed, and so taken again */
    double retaken_lost; /* the sum of what these lost */
} sample;

typedef struct contestant {
    char name[256];         /* unique in the race */
    const char *schema;     /* as given; NULL: the guess, or a peer */
    const char *peer;       /* as given; NULL: ours */
    char script[RACE_PATH]; /* of a peer */
    bool reference;
    standing standing;
    bool late;           /* it is out because it did not answer in time */
    char reason[REASON]; /* why it is not in the race */
    process process;
    cJSON *facts;         /* what it answered to open in the first launch */
    numerics numerics;    /* worst over the launches */
    char unverified[200]; /* why its outputs are not compared with the reference's; "": they are */
    double peak_bytes;
    double pass_ns; /* estimated in the first launch */
    int warm, passes;
    int retakes;     /* samples that may still be taken again in this launch */
    sample *samples; /* of all launches in order */
    int n_kernels;
    double *kernel_ns; /* [launch][kernel] */
    int profiles;      /* launches that were profiled */
} contestant;

typedef struct race {
    bench_options o; /* with defaults filled in */
    cpu_list cpus;
    char folder[RACE_PATH / 2]; /* private, removed at the end */
    char model[RACE_PATH]; /* the file or name that is opened: the one given, or that of options.graph, in folder */
    char peer_model[RACE_PATH]; /* the ONNX file of peers: the one given, or one in folder */
    int interrupt;              /* becomes readable when a signal asks to stop; -1: none */
    bool stopped;               /* a signal did */
    int signal;                 /* which one, where what was measured is kept */
    contestant judge;           /* the reference */
    contestant *of;             /* candidates, then peers */
    int n, n_candidates;
    int rounds;   /* per launch, of everybody alike */
    int launches; /* that have samples */
    int *start;   /* launches + 1: index of a launch's first sample */
    cJSON *ceilings;
    double load_before; /* NaN where it cannot be read */
    cpu_ticks ticks_before, ticks_after;
} race;

/* contestant.c: each returns false when all must stop; e says why. That a contestant fails is no reason to
 * stop: see standing. */
bool contestant_check(race *r, contestant *c, ts_error *e); /* a process of its own plans, as it would when opened */
bool contestant_open(race *r, contestant *c, ts_error *e);  /* start, open, verify, warm up, estimate */
bool contestant_turn(race *r, contestant *c, sample *s, ts_error *e); /* one sample; halts it again */
bool contestant_profile(race *r, contestant *c, ts_error *e);
void contestant_close(contestant *c); /* records its memory, ends its process */
void contestant_free(contestant *c);

/* results.c */
cJSON *race_config_make(const race *r); /* of the caller's */
char *results_json(const race *r);

/* peer.c: the script of a peer; the ONNX file that peers read, r->peer_model. False with the reason. */
bool peer_script(const race *r, const char *name, char path[RACE_PATH], ts_error *e);
bool peer_model(race *r, ts_error *e);
