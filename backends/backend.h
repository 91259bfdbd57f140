/* backend.h - a back end is this table: `const backend backend_NAME` in backends/NAME/, gathered by the build. It turns
 * a plan into something that runs. A NULL function means "cannot"; the driver then says so. Records are constant. A
 * program is its owner's from build to drop, and of one plan, which outlives it; what a call is given is borrowed for
 * the call.
 *
 * The room:  driver, runner (plans of tessera.h) -> backend: c/ interp/ null/        weights (derived, leaf)
 *            codegen/: nests to text    cpu/, gpu/: targets    cache/: what was compiled    watch, support, outside */
#pragma once
#include "backends/phases.h"
#include "schedule/plan/plan.h"
#include "tessera_shared.h"

typedef struct program program; /* what a back end made of one plan; each defines its own */
typedef struct memory { /* whose memory a program uses: it is its owner's, from one call of take to the program's end */
    void *(*take)(void *user, size_t bytes, err *e); /* zeroed, aligned to its elements */
    void *user;
} memory;
typedef struct build_options {
    const char *cache_folder;
    void (*progress)(void *user, const char *what, int done, int total);
    void *user;
    const memory *memory; /* of every weight, of values and of scratch, each by itself; NULL: the system's */
    phases *phases;       /* NULL: nobody asks where the time goes */
    const program *from;  /* a program of this back end that may hold this one's kernels, and outlives it; NULL: none */
} build_options;

typedef struct machine_options { /* which machine a plan is for; as in ts_options */
    const char *machine, *isa;
    int threads;
    int device;       /* its number, of a back end that numbers them; before it is found, as in ts_options */
    const char *part; /* of one that is parted: the name behind the colon; NULL: all of it */
    /* Where what is measured of this machine is kept, and whose time it takes, if it is measured now; NULL: the plan is
     * for no run, and nothing is asked for beyond what the machine says of itself. */
    const char *cache_folder;
    phases *phases;
} machine_options;

typedef struct emit_options {     /* of a stand-alone program; tessera.h says what each is */
    const char *folder, *program; /* folder: the file, if single */
    ts_single single;
    const char *const *output; /* names of the outputs; NULL: the labels of their nodes */
    const void *const *state;  /* of each input carried over, in the plan's order: its first value, or NULL: zeros */
    bool (*add)(void *user, const char *folder, err *e);
    void *user;
} emit_options;

/* What a back end keeps on disk from run to run, for processes to come. Each function appends a JSON object to out;
 * folder: as in ts_options. Other processes may use it at the same time. */
typedef struct keeper {
    bool (*list)(const char *folder, text *out, err *e);
    bool (*check)(const char *folder, text *out, err *e); /* reads everything, sets aside what is damaged */
    /* Until it fits in so many bytes, below 0 in those it is kept to: what was used longest ago goes first */
    bool (*prune)(const char *folder, int64_t limit, text *out, err *e);
} keeper;

/* What it has of the machine at hand */
typedef enum rates_wanted {
    RATES_KEPT,   /* as they were measured before */
    RATES_NEEDED, /* or now, where they can be kept */
    RATES_AGAIN,  /* now, and kept, or it is an error */
} rates_wanted;
typedef struct presence {
    bool (*usable)(text *why);             /* here, now; why not, or with what. NULL: it is */
    bool (*runs)(const target *t, err *e); /* whether what is made for t can run here; NULL: it can */
    int (*alike)(void); /* of a back end that numbers its devices: how many are like the first one, from it on */
    void (*here)(const target *t, target *out); /* t as far as this machine goes; NULL: all the way */
    /* Appends the rates by which plans for this processor are decided, as a word of a machine's text; nothing where
     * none are known. NULL: nothing is measured */
    bool (*rates)(const machine_options *asked, rates_wanted how, text *word, err *e);
} presence;

/* That a kernel was worked on, by a thread of a team or, -1, by a device; seconds of seconds_now */
typedef void span_seen(void *user, int thread, int kernel, double begin, double end);

/* Runs, as backend.run does, kernel by kernel, with after(user, k) behind each. */
typedef struct by_kernel {
    bool (*each)(program *g, void *const *input, void (*after)(void *user, int kernel), void *user, err *e);
    /* The seconds that each kernel took by the device's own clock, one behind the other as in a run; NULL: `each`, by
     * the clock of the host. */
    bool (*time)(program *g, void *const *input, double *seconds, err *e);
    /* Runs as backend.run does, and tells afterwards who worked on what when; NULL: `time`, or `each` */
    bool (*trace)(program *g, void *const *input, span_seen *seen, void *user, err *e);
} by_kernel;

/* What kernels become on their way to the machine, without a run */
typedef struct by_text {
    /* Adds a kernel of a plan as ts_plan_kernel says */
    bool (*show)(const plan *p, const kernel *k, const char *as, const build_options *w, text *out, err *e);
    /* Asks the assembler of the plan's machine what it makes of each kernel (kernel.made), and adds to the facts which
     * one it is, as "assembler" (docs/plan.md). NULL: it has none. */
    bool (*assemble)(plan *p, const build_options *w, text *facts, err *e);
} by_text;

typedef struct pipeline { /* runs in order, of which parts on several devices may be at different ones at a time */
    int n;
    void *const *input; /* of run i from i times the plan's on; they may lie anywhere */
    ts_array *out;      /* of run i from i times the plan's roots on, with room; NULL: results stay in the program */
    span_seen *seen;    /* told afterwards who worked on what when; NULL: nobody asks */
    void *user;
} pipeline;

/* For a plan that is a part of one over several devices. A run is spans, from kernel 0 to the last one in order, with
 * values that come (put, carry) and go (fetch) between them: plain bytes of nodes in the arena, in rows. What a call
 * starts may still be under way when it returns, if it is done before what later calls start, or read; wait waits for
 * all of it, and tells what went wrong. Inputs are read from the first span on, and those that are written hold the new
 * value after the last span and wait. */
typedef struct by_span {
    bool (*span)(program *g, void *const *input, int first, int end, err *e); /* kernels first..end-1 */
    bool (*put)(program *g, const node *n, const void *from, err *e); /* from is free after it; NULL where in_host */
    bool (*fetch)(program *g, const node *n, void *to, err *e);       /* the same; it is there when fetch returns */
    /* The same from another program of the back end, straight; not direct: they have no such way. NULL: none has */
    bool (*carry)(program *g, const node *n, program *of, bool *direct, err *e);
    bool (*wait)(program *g, err *e); /* NULL: nothing is under way after a call */
} by_span;

/* Of inputs that lie on the device from run to run, the program's lists: the next run takes its value from here; it
 * was written there since, and has to be brought; by state: it has no place there, and the run has moved it there */
typedef struct held_inputs {
    char *send, *newer, *moved;
} held_inputs;
typedef struct by_input {
    held_inputs *(*hold)(program *g); /* from now on; else a run sends all, and brings what it wrote */
    bool (*bring)(program *g, int input, void *to, err *e);
} by_input;

/* Memory on the device that programs share (ts_shared), the back end's own record, which begins with this one */
struct ts_shared {
    const struct by_memory *by;
    int64_t n;
};
typedef struct by_memory {
    bool (*sends)(err *e); /* what sends to other devices is here */
    ts_shared *(*make)(const program *g, int64_t n, err *e);
    void (*close)(ts_shared *s); /* all but the record itself */
    bool (*place)(program *g, int input, ts_shared *s, int64_t at, err *e);
    /* The input lies from now on where another program of the back end has a value, if that is on the same device;
     * false with no error: it is not */
    bool (*lies)(program *g, int input, const program *of, const node *n, err *e);
    bool (*write)(ts_shared *s, int64_t at, const float *from, int64_t n, err *e);
    bool (*read)(const ts_shared *s, int64_t at, float *to, int64_t n, err *e);
    bool (*meeting)(ts_shared_id *id, err *e);
    bool (*join)(int n, ts_shared *const *s, int first, int count, const ts_shared_id *id, err *e);
    bool (*exchange)(int n, const ts_transfer *t, err *e);
} by_memory;

typedef struct backend {
    const char *name, *doc;
    const char *kinds; /* of machines that it plans for, with blanks between: "cpu gpu" (target.kind) */
    const char *older; /* what schemas called it before; NULL: the same */
    bool varies;       /* it takes plans of which a run says extents: they stand behind the inputs, i64 */
    bool usual;        /* plans are for it where nobody says for which one */
    bool numbered;     /* there may be several of it: "NAME:0", "NAME:1", ... */
    bool parted;       /* parts of it are devices, too: "NAME:numa0", "NAME:cores0-7" */
    bool as_written; /* it is to run the graph as it is: no operation is replaced by a cheaper way to the same value */
    bool in_blocks;  /* then: but for long sums in blocks, which its target's guess proposes */
    const char *described; /* a machine to ask it about where none is needed here; NULL: this one */
    /* What plans are made for: this machine, or the one that is described; of mem. */
    const target *(*target)(arena *mem, const machine_options *asked, err *e);
    const presence *present; /* NULL: it is part of this process, and runs what it is asked for */
    /* Whether its kernels begin as soon as those have ended that they wait for; NULL: they do so one by one */
    bool (*at_edges)(const plan *p);
    bool (*takes)(const plan *p, err *e); /* whether build could make a program of it; NULL: of every plan */
    /* The same for one kernel, which has no loops yet; what it does not take is done elsewhere. NULL: every kernel */
    bool (*takes_kernel)(const target *on, const kernel *k, err *e);
    program *(*build)(const plan *p, const build_options *w, text *facts, err *e); /* facts: members of a JSON object */
    /* input[i]: the value of plan input i. Results stay in the program until the next run, save those whose buffer is
     * an input: they are written there. */
    bool (*run)(program *g, void *const *input, err *e);
    bool (*pipeline)(program *g, const pipeline *w, err *e); /* NULL: each run goes by itself */
    const by_kernel *kernels;                                /* NULL: a run is one thing, which cannot be looked into */
    const by_text *texts;                                    /* NULL: it makes no texts of kernels */
    /* Where a value of the arena lies in its buffer's layout, and its dtype there; until the run goes on, or the next
     * call. NULL: it cannot be had from the device. Weights that are made of others are read so (derived.c). */
    const void *(*at)(const program *g, const node *n, dtype *stored);
    /* Row-major, in the root's own dtype, out's memory; for roots that are no inputs and have no buffer there */
    bool (*get)(program *g, int root, ts_array *out, err *e);
    bool (*emit)(const plan *p, const emit_options *w, err *e); /* a stand-alone program */
    const by_span *spans;                                       /* NULL: it runs whole plans alone */
    const by_input *inputs;                                     /* NULL: they are read, and written, where they lie */
    const by_memory *shared;                                    /* NULL: programs share nothing */
    bool in_host; /* values are in this process's memory: at says where, of all nodes of the arena at all times */
    bool at_once; /* then: inputs that a kernel writes have the new value behind its span, whichever it is */
    void (*drop)(program *g);
    const keeper *kept;
} backend;
extern const backend *const backends[];                /* ends with NULL */
const backend *backend_find(const char *name, err *e); /* NULL with the list of those there are */
bool backend_usable(const backend *by, text *why);     /* as presence.usable */
const backend *backend_usual(void); /* the one that is marked so, else the first that computes in this process */
