/* emit_folder.h - writes a program that stands alone: C sources, weights, a header to call it by, a small main and a
 * Makefile. It needs a C compiler, libm and pthreads.
 *
 *   NAME.c, ...       the units, as they are built here: the same text and flags, hence the same bits
 *   counts.h, tables.c  the table of spaces, and of inputs, outputs and states
 *   the files of backends/c/runtime, as they are: the interface (model.h), memory and weights, the team that ran it
 *   here, and a main that runs it on .npy files, or on zeros against the clock
 *   weights.bin       all weights, and state as it begins, each at a multiple of 64 bytes
 *   Makefile, ports.json
 *
 * The folder appears whole or not at all. No text of a model gets in, except into ports.json. All of emit_parts is
 * borrowed for the call. */
#pragma once
#include "graph/base/base.h"

enum { EMIT_SIZES = 4 };
typedef struct emit_size { /* that runs have: multiples of step */
    int64_t low, high, step;
} emit_size;
typedef struct emit_extent { /* plus and times[i] of the steps of size i, over per; it varies: else it is constant */
    bool varies;
    int64_t times[EMIT_SIZES], plus, per;
} emit_extent;
/* space: a block of memory that the program's code is given a pointer to, aligned to 64 bytes. State is what a run
 * leaves for the next one. */
typedef enum emit_kind { EMIT_SCRATCH, EMIT_WEIGHT, EMIT_STATE, EMIT_INPUT, EMIT_OUTPUT } emit_kind;
typedef struct emit_space {
    emit_kind kind;
    size_t bytes;
    ts_dtype dtype; /* of an input, output or state, with rank and dim: what a person hands in and gets */
    int rank;
    int64_t dim[TS_MAX_RANK];
    emit_extent extent[TS_MAX_RANK]; /* of each, where runs say it */
    int number;                      /* of a state: its place in the interface */
    bool is_zero;                    /* a state that begins with zeros, which are not written */
} emit_space;

typedef struct carried_file {
    const char *name, *text; /* of a unit: a C identifier, and C */
    size_t from, to;         /* bytes of the lines that include others of the program; both 0: there are none */
} carried_file;
/* Those that programs carry as they are, from where the build finds them; ends with NULL. */
extern const carried_file runtime_files[];
carried_file runtime_found(const char *name);
const char *runtime_file(const char *name); /* the text of one */

typedef struct emit_extra { /* what a program has beside its units: headers, sources that are no C, and their rules */
    int n_file;
    const carried_file *file;
    const char *libraries; /* for the linker, as " -lm" */
    const char *made;      /* files that make builds of them, with blanks in front */
    const char *rules;     /* of the Makefile, for those */
} emit_extra;

typedef struct emit_parts {
    int n_unit;
    const carried_file *unit; /* in one file, those that include nothing come first */
    const emit_extra *extra;  /* NULL: none */
    /* One unit defines: void ENTRY(void *const *space, int *fault, int part, int parts, void (*wait)(void *), void
     * *team). Every thread calls it with its part; wait is the barrier, and *fault, 0 before, is set when an index read
     * from the inputs lies outside its axis. */
    const char *entry;
    int n_space;
    const emit_space *space; /* in the order of the pointers; the i-th input is input i, so with outputs */
    /* Puts the bytes of a weight or state, a space, into `to`, which is zeroed; called once for each, so that they
     * need not all be in memory at once. */
    void (*weight)(void *arg, int space, void *to);
    void *arg;
    int n_size; /* extents that a run says */
    const emit_size *size;
    int size_space; /* which of the spaces has them, as C's long; 0: there are none */
    int threads;
    const int *cpu;           /* the processor of each thread; NULL: any */
    const char *const *flags; /* of the compiler, NULL at the end */
    const char *ports;        /* text of ports.json, with the names of inputs and outputs; NULL: no such file */
    const char *program;      /* what make builds */
    bool (*add)(void *user, const char *folder, err *e); /* more files, or others of the same names; NULL: none */
    void *user;
} emit_parts;

bool emit_folder(const char *folder, const emit_parts *p, err *e);
/* All in one file of C, weights too, or those beside it; only of units and headers in C. */
bool emit_one_file(const char *file, ts_single how, const emit_parts *p, err *e);

/* What both are made of. Weights come one after the other, each with its padding. */
typedef bool emit_put(void *arg, const void *bytes, size_t n); /* false: errno says why */
void emit_counts(const emit_parts *p, text *t);
void emit_tables(const emit_parts *p, text *t); /* behind what they include */
bool emit_weights(const emit_parts *p, emit_put *put, void *arg);
size_t emit_weight_bytes(const emit_parts *p);
bool emit_weight_file(int at, const char *name, const emit_parts *p); /* a new one; false: errno says why */
