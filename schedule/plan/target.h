/* target.h - what the schedule asks of the kind of machine that it plans for.
 *
 * A target is a record of tables, which a back end fills from the machine at hand: the roles that a loop may have, the
 * spaces in which slices of operands may wait, the levels of memory, the units that take matrices, what fits into
 * registers, what things cost, and the loops it proposes where nobody chose any. The schedule knows no row of these by
 * its name: it reads the notation by them, and asks their properties. So a new role, space or unit is a row in one
 * target's table. Targets are read-only once made, and live as long as every plan for them. */
#pragma once
#include "graph/ir/type.h"

/* role: how the trips of a loop are done. */
typedef struct role {
    const char *name; /* "@name" in the notation */
    const char *done; /* what it does to a loop, in sentences: "spread over the cores" */
    bool implied;     /* what a loop without a role has, and so is not written; the first one of a target, alone */
    /* What it means, at most one of serial, parallel, in_registers */
    bool serial;       /* one trip after the other, by one worker */
    bool parallel;     /* trips at the same time by different workers; none reads what another one writes */
    bool in_registers; /* all trips written out: what they sum stays in registers, a part of the register tile */
    bool lanes;        /* in registers, of which trips are the elements */
    bool unit;         /* in registers of a matrix unit, which takes all such loops of a nest at once */
    bool dot;   /* in registers, inside of a loop over lanes: one instruction multiplies and adds all its trips */
    bool group; /* in registers, of which each of the lanes that make a worker has one trip */
    int warp;   /* lanes that do each of its trips together; 0: one */
    /* Where it is legal */
    bool shared, own; /* among the loops that stages share; among one stage's own in a kernel of several */
    bool folded;      /* on an axis that is folded away */
    bool parts;       /* there too, its trips being parts of the sum that another kernel adds up */
    bool last;        /* only as the innermost loop of its nest, in steps of one */
    bool outer;       /* only outside of all loops that have another role: who does its trips meets no other worker */
    int64_t most;     /* loops of a nest that have it, at most; 0: any number */
    int64_t trips;    /* of such a loop, at most; 0: any number */
} role;

/* memory_space: where slices of operands wait for the loops that read them. */
typedef struct memory_space {
    const char *name; /* "+b@name" in the notation; NULL: what "+b" is, the first one of a target */
    bool copied;      /* a kernel copies the slice there and reads the copy; else it is fetched: read where it lies */
    bool shared;      /* all workers of a group have it together: they copy together, and wait for one another */
    int least, most;  /* slices that are held there, the one in use included */
    int64_t bytes;    /* that a kernel may have there, all slices together; 0: no limit but memory */
    int level;        /* of target.level: where it is */
    int number;       /* by which what is generated asks for it */
} memory_space;

/* memory_level: caches and memory, from the inside out; the last one holds everything. */
typedef struct memory_level {
    const char *name;
    int64_t bytes;          /* for one worker, or of all where it is shared; 0 of the last one: no limit */
    bool shared;            /* by all workers */
    double bytes_per_cycle; /* that one worker reads from it, while all do */
    double
        passed_per_cycle; /* the same of what a kernel reads and writes that only goes through values; 0: as it reads */
    int64_t repeats;      /* bytes after which addresses share its few places again; 0: it has none */
    int ways;             /* lines that such a place holds, at least */
} memory_level;
enum { MAX_LEVEL = 6, MAX_STREAM = 4 };

/* matrix_unit: y[m,n] += sum over k of a[m,k] b[k,n], all at once. */
typedef struct matrix_unit {
    int m, n, k;
    dtype operand, sum;
    int sums; /* of these in registers of one lane, where lanes of a group form them together; 0: one worker does */
    /* Warps that take trips side by side along the rows, all at once and each its own, from slices that the unit reads
     * itself; 0: each warp for itself */
    int warps;
    double reached; /* of the machine's rate for such operands: the share that products were seen to come to */
} matrix_unit;

/* What one instruction adds to each i32 of a vector: n products of neighbours along a folded axis, of which b has its
 * own for each lane, and a the same for all. */
typedef struct dot_form {
    int n;
    dtype a, b;
} dot_form;

/* box_limits: of copies that a device makes by itself, of boxes of a tensor that lies in memory. */
typedef struct box_limits {
    int dims;    /* of the tensor, at most */
    int count;   /* elements of a box along one of them, at most */
    int grain;   /* bytes at multiples of which rows begin */
    int barrier; /* bytes of what tells that they have come */
} box_limits;

/* Of one worker, in cycles; seconds compare devices with each other. */
typedef struct costs {
    double fma_latency;   /* until a multiply-add can be added to */
    double fma_per_cycle; /* vectors multiplied and added */
    double exposed; /* share of the shorter of multiplying and loading that the longer does not hide; 0: of none */
    double shown;   /* the same of loads in the best places, as a good tile has them; no more than that */
    double cycles_per_second;
    double start_seconds;                       /* until a kernel begins */
    double link_seconds, link_bytes_per_second; /* to bring a value to the host's memory, or from there */
} costs;

enum { MAX_LOADS = 64, MAX_STAGES = 128 }; /* loads of a stage, stages of a kernel: at most */

/* Of the sums that a kernel mostly adds to: how often, how many are under way at once, how many additions stand in the
 * text of the innermost loop, and how many elements each takes. */
typedef struct sum_counts {
    double times, sums, written, lanes;
} sum_counts;
/* How often a kernel does what, in its text as it stands; at most, where a run or data decide. */
typedef struct op_counts {
    double multiply_adds, dots, others; /* operations on vectors */
    double halves;                      /* multiply-adds of half a vector, or less */
    double loads, broadcasts, stores;   /* of vectors */
    double scalars, scalar_loads, scalar_stores;
    double fetches, barriers;
    double tiles, trips,
        around;    /* calls of tile functions; trips of loops that are not written out, in these, outside */
    double waits;  /* multiply-adds that could begin while others wait for the one before */
    double spills; /* loads, and twice the stores, of what finds no register */
    /* Up to here they add up */
    double registers[MAX_STAGES]; /* vectors, or words, that each stage's tiles take at once, at most */
    sum_counts most;
} op_counts;

/* footprint: bytes that a kernel reads and writes, as its text says. To be freed. */
typedef struct working_set { /* distinct ones, of one trip of a loop */
    int stage, depth;        /* which loop: of that stage (main: of all), how many are entered with it */
    double bytes, all;       /* of a worker; of all that work at the same time */
} working_set;
typedef struct footprint {
    double traffic[MAX_LEVEL]; /* that come into each level from outside it */
    double apart;              /* that workers bring beyond the first one, each for itself */
    int n, cap;
    working_set *of;
} footprint;
void footprint_add(footprint *f, const working_set *s);                    /* of one loop the largest stays */
const working_set *footprint_of(const footprint *f, int stage, int depth); /* nothing, where there is no such loop */
void footprint_free(footprint *f);

/* touch: the lanes of a warp that read or write memory at once, in so many of a kernel's trips as `share` says. */
typedef struct touch {
    int stage, load;   /* which operand of it; that behind all: the result */
    bool shared, copy; /* a group's own memory; in a copy of a slice */
    int64_t bytes;     /* of each lane, from at[i] on: bytes behind where the operand, or that memory, begins */
    double share;
    int n;
    const int64_t *at;
    const struct box *box; /* NULL; else a box of a tensor comes by itself, and at[] is where it begins along n axes */
} touch;
typedef struct touching {
    void (*each)(void *user, const touch *t);
    void *user;
    /* Told: bytes of its own memory that a group takes; how often lanes wait for what they read of memory, all groups
     * together */
    int64_t shared;
    double waits;
    op_counts counts;
    footprint *footprint; /* to be found, too; NULL: nobody asks */
} touching;

typedef struct plan plan;
typedef struct kernel kernel;
typedef struct streaming streaming;
typedef struct nesting nesting;
typedef struct guesser { /* loops where nobody said otherwise; printed, they are what a person may take and change */
    /* Puts the loops that stages share; not asked of one stage */
    void (*shared)(const plan *p, const kernel *k, nesting *out);
    /* Those of a stage, under the shared loops. second: what came next to it, with both costs, where several were
     * weighed */
    void (*stage)(const plan *p, const kernel *k, int which, nesting *out, text *second);
    /* Fetches slices a trip ahead, where nothing else was written; marks them derived */
    void (*prefetch)(const plan *p, kernel *k);
    /* In blocks of how many the axis is walked that a group sums up; 0: whole, as where this is NULL. */
    int64_t (*block)(const plan *p, const streaming *s);
} guesser;

typedef struct target {
    const char *kind;  /* "cpu" */
    const char *model; /* which one of its kind, as explain has it */
    int n_role, n_space, n_unit, n_level;
    const role *role; /* [0]: of loops without one */
    const memory_space *space;
    const matrix_unit *unit;
    const dot_form *dot;     /* NULL: there is none */
    const box_limits *boxes; /* NULL: it makes no such copies, */
    const char *no_boxes;    /* for this reason, if it is known */
    memory_level level[MAX_LEVEL];
    int near;              /* the level in which what one worker reads again and again should stay */
    int workers;           /* that the parallel loop is spread over */
    int places;            /* workers that run at the same time: more than these take turns */
    int group;             /* lanes that a worker is made of, at most; 0: a worker is one alone */
    int warp;              /* lanes that go in step: a worker has a whole number of these; 0 without a group */
    bool shuffles;         /* these read one another's registers */
    bool side_by_side;     /* one launch may be several kernels, each of which has workers of its own */
    int streams;           /* kernels that it may be at, at most, where none waits for another; 0: one */
    int operands;          /* values that a kernel reads and writes, at most; 0: any number */
    int line;              /* bytes of a cache line: what is fetched at once */
    int align;             /* bytes to whose multiples blocks are laid: whole lines, whole vectors; a power of two */
    int n_register;        /* vector registers of one worker */
    int lanes[TS_N_DTYPE]; /* elements that one register has of what is computed in a dtype */
    int halves;            /* 1: vectors of half as many are multiplied and added twice as fast; else 0 */
    bool named;            /* its instructions are those that were asked for by name, or the best ones */
    bool passes_last;      /* what is fetched in passing need not push out what the last cache holds */
    bool team;             /* workers wait for one another between kernels, and some may do others' work meanwhile */
    bool loops;            /* a kernel may hold a loop over others, which one worker makes */
    costs cost;
    const guesser *guess;
    /* Counts, and appends members of the kernel's JSON object that only such machines have, each after a comma; false:
     * it has no text. NULL: none of both */
    bool (*explain)(const plan *p, const kernel *k, op_counts *counts, footprint *bytes, text *out);
    /* Counts what the kernel's text does; false: it has none. NULL: no text is written for it. bytes NULL: these not */
    bool (*count)(const plan *p, const kernel *k, op_counts *out, footprint *bytes);
    /* Follows what lanes touch in the kernel's text; false: it has none. NULL: its workers are no groups of lanes */
    bool (*touch)(const plan *p, const kernel *k, touching *to);
    void (*print)(const struct target *t,
                  text *out); /* the machine in one line, as ts_options.machine takes it; NULL: none */
    const void *own;          /* of the target's: what its guess and its back ends know of it beyond this */
} target;

const role *target_role(const target *t, const char *name, size_t n); /* NULL: there is none */
/* name[0..n): NULL with n == 0 is the first one */
const memory_space *target_space(const target *t, const char *name, size_t n);
/* Where slices wait that the workers of a group copy together; NULL: there is none */
const memory_space *target_group_space(const target *t);
int64_t target_bytes(const target *t, int level);       /* INT64_MAX of the last, which is memory */
int64_t target_aligned(const target *t, int64_t bytes); /* up to the next multiple of align */
/* Operations on f32 that a worker does while a byte of a level comes to it; 0 where nothing is known of it */
double target_flops_per_byte(const target *t, int level);
/* The same for a byte that a pass between two values goes through, the larger of which has so many */
double target_flops_per_passed(const target *t, double bytes);
int target_last(const target *t); /* the last level that is a cache */
