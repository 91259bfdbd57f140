/* cases.h - conformance cases in the layout of the ONNX project: a folder with model.onnx and test_data_set_N, each
 * with input_K.pb and output_K.pb. A set of them is a folder, or an archive of one, in whose index.tsv (if it has one)
 * the first columns are tier, case and operator. What is found, unpacked archives included, is of `cases` until
 * cases_free.
 * The room:  archive -> find -> ready -> pool: processes -> run: one case */
#pragma once
#include "tessera.h"

#include <stddef.h>

typedef struct test_case {
    char *folder, *tier, *name, *op; /* op: "Add-14", or "" where no index says */
} test_case;

typedef struct case_filter {
    const char *tiers; /* "P0,P1"; NULL: all */
    const char *name;  /* a pattern as in file names; NULL: all */
    const char *op;    /* "Add,Conv", with or without a version; NULL: all */
} case_filter;

typedef struct cases {
    test_case *all;
    int n, cap;
    int skipped; /* left out by the filter */
    char **unpacked;
    int *janitor; /* of each unpacked archive */
    int n_unpacked;
} cases;

/* Adds what is found at path, a folder or an archive. */
bool cases_find(cases *c, const char *path, const case_filter *f, ts_error *e);
void cases_free(cases *c); /* with what was unpacked */

bool filter_lists(const char *list, const char *word, size_t length); /* whether one of the words between commas */

/* Unpacks what lies in the tiers asked for, and the index, into folder. */
bool archive_unpack(const char *path, const char *tiers, const char *folder, ts_error *e);
/* A new folder for temporary files that is removed when the descriptor is closed, or when this process ends in whatever
 * way. NULL and an error if that fails; the path is for free(). */
char *archive_folder_make(int *janitor, ts_error *e);

/* ---- running ---- */
typedef enum case_variant {
    AS_STORED,
    SYMBOLIC,     /* every extent of every input is free */
    INITIALIZERS, /* every input but the first is held by the model */
    VIA_JSON,     /* written as graph/1 and read again: the same graph, and the results */
    VIA_ONNX      /* the same as an ONNX file */
} case_variant;

typedef struct case_options {
    ts_options options;
    case_variant variant;
    double seconds; /* that one case may take */
    int jobs;
} case_options;

typedef struct outcome {
    bool passed;
    ts_code code;
    double seconds;
    char reason[700]; /* why it failed */
} outcome;

/* Whether the target computes anything: what every case would fail of is said once. */
bool cases_ready(const ts_options *o, ts_error *e);
void case_run(const test_case *t, const case_options *w, outcome *out);
/* Each in a process of its own, w->jobs at a time; out[i] for all[i]. done is called after each. */
bool cases_run(const cases *c, const case_options *w, outcome *out, void (*done)(void *user, int n, const char *name),
               void *user, ts_error *e);
