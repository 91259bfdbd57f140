/* objective.h - a problem of ADBench: what its file holds, which values it has, and by what they are derived. One
 * row a problem, `const objective objective_NAME`, in a file of models/adbench, on the public header and
 * models/parts; the build lists the folder and writes the table, which the command shows, reads and times. Numbers
 * come from a file, or, where there is none, from a seed; either way an objective takes them in the order of the
 * file. A problem owns its arrays, its model and nothing else; the first failure is kept in `e`, and whatever is
 * asked for after it is refused. */
#pragma once
#include "tessera.h"

enum { OBJECTIVE_MOST = 12, OBJECTIVE_SIZES = 4 };
typedef struct problem problem;

/* A value by a given array. Rows: each row of the value reads one row of the array: its own, or that which the given
 * array `row` says; these rows are an output of the model then. */
typedef struct jacobian {
    int value, given;
    bool by_rows;
    int row, output; /* 0: its own; the given array itself */
} jacobian;

typedef struct objective {
    const char *name, *brief;            /* "gmm", "a mixture of Gaussians" */
    const char *file;                    /* what a file has, in order */
    const char *sizes;                   /* of a made problem: "n=1000 d=10 k=25", at most OBJECTIVE_SIZES */
    bool sparse;                         /* derivatives are written as rows of what is not zero */
    int n_value, n_gradient, n_jacobian; /* outputs 0 ... are values; value 0, without axes, by given arrays 0 ... */
    jacobian jacobian[4];
    bool (*read)(problem *p); /* takes sizes and numbers */
} objective;
extern const objective *const objectives[]; /* all of them, ends with NULL; written by the build */

/* The derivative of a value by a given array. Whole: [axes of the value..., axes of the array...]. By rows: the value's
 * first axis is one of rows, each of which reads one row of the array: [rows, other axes of the value..., axes of a
 * row...]; which one, an array of integers says, or it is the same one. */
typedef struct slope {
    ts_tensor t;
    int value, given;
    bool by_rows;
    int row; /* the given array that says which; -1: row r reads row r */
} slope;

struct problem {
    const objective *of;
    const char *file, *at; /* the file's name; what is left of its text; NULL: numbers are made */
    uint64_t seed;
    int64_t size[OBJECTIVE_SIZES]; /* in the order of of->sizes */
    bool single;                   /* the model is in f32, else f64; given numbers are in f64 either way */
    int n_given, n_value, n_slope;
    ts_given given[OBJECTIVE_MOST]; /* inputs of the model */
    ts_model *model;
    ts_graph *g;
    ts_tensor value[OBJECTIVE_MOST];
    slope slope[OBJECTIVE_MOST];
    ts_error *e;
};

/* What an array holds. Where there is no file it is made: uniform in mean - spread ... mean + spread, or normal. */
typedef struct numbers {
    bool normal;
    double mean, spread;
    int64_t below; /* integers in [0, below); 0: reals */
    int64_t first; /* only so many numbers are in the file, and repeat; 0: all of them */
} numbers;

bool objective_begin(problem *p); /* sizes as of->sizes has them, where they are not set */
/* The named size: the file's next number, or what it is to be; at least `least`. -1: it failed. */
int64_t objective_size(problem *p, const char *name, int64_t least);
/* The next numbers of the file as the input `name` of the model, f64 or i64; its elements. NULL: it failed. */
void *objective_take(problem *p, const char *name, numbers what, int rank, const int64_t *dim);
/* Row i of something refers to row i mod below of something else: no part of the file. */
bool objective_cycle(problem *p, const char *name, int64_t n, int64_t below);
bool objective_fail(problem *p, ts_code code, const char *fmt, ...) __attribute__((format(printf, 3, 4))); /* false */

/* What a model's reals are by its dimension "bits", 32 or 64; TS_N_DTYPE: it is neither, and *e says so. */
ts_dtype objective_real(const ts_model *m, ts_error *e);
/* Opens the model adbench-NAME, bound to of->sizes and p->single; values and slopes. */
bool objective_build(problem *p);
