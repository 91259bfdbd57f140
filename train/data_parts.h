/* data_parts.h - shared by the readers of data.
 * A reader appends to `data`, which the caller frees also after a failure; an error names file and line, counted from
 * 1. */
#pragma once
#include "train/data.h"

/* One record as a row; what it points to lies in the record. */
typedef struct row {
    char *text, *other;     /* text NULL: it is a header, and no example. other: the label, or the second text */
    size_t n_text, n_other; /* bytes */
} row;
typedef enum row_kind { ROWS_TAB, ROWS_CSV, ROWS_JSON } row_kind; /* by the file's ending */
typedef struct rows {                                             /* a file being read */
    const data_want *want;
    const char *path;
    int64_t line, next; /* that the record begins in; of the next one */
    row_kind kind;
    char said[512];
    const char *name[2];  /* of columns or members: of the text, and of what stands behind it */
    int n_name, n_column; /* n_column 0: no fields, but text, a tab, a label */
    int column[2];
} rows;
void rows_open(rows *r, const data_want *want, const char *path);
/* Takes the record at s[0..n) apart where it lies; gives its bytes, 0 after a failure. */
size_t row_read(rows *r, char *s, size_t n, row *out, ts_error *e);
bool row_refuse(const rows *r, const char *what, ts_error *e); /* with what a row is to be; false */

/* Labels as they come: numbers of classes, or names where the first one is a name; or other numbers. */
typedef struct labels {
    const data_want *want;
    bool named, learns;
    int n;
    struct label *all; /* by name */
} labels;
void labels_open(labels *l, const data_want *want);
bool labels_add(labels *l, const rows *r, const char *s, size_t n, double *out, ts_error *e);
/* All are there: gives out its names and classes. */
bool labels_end(labels *l, const rows *r, data *out, ts_error *e);
void labels_close(labels *l);
bool label_number(const rows *r, double v, double *out, ts_error *e); /* checked against what is wanted */

bool data_is_text(const char *path, int64_t line, const char *s, size_t n, ts_error *e); /* UTF-8 without NUL */
bool data_stream(const data_want *want, const char *path, data *out, ts_error *e); /* one long text, or raw tokens */
bool data_arrays(const data_want *want, data *out, ts_error *e);                   /* .npy files, [example, ...] each */
/* Files of MNIST and CIFAR (data_images.c), by their endings; of the latter one file has both, and name says which. */
bool data_is_images(const char *path);
bool data_images(const char *name, const char *path, ts_array *out, ts_error *e);
size_t data_mark(const bytes *file); /* bytes of the mark of UTF-8 that some editors put before a text: 0 or 3 */
bool path_ends(const char *path, const char *ending); /* ".jsonl" */
