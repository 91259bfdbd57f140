/* data_parts.h - shared by the readers of data.
 * A reader appends to `data`, which the caller frees also after a failure; an error names file and line, counted from
 * 1. */
#ifndef TRAIN_DATA_PARTS_H
#define TRAIN_DATA_PARTS_H
#include "train/data.h"

/* One line as a row: texts lie in the file or, unescaped, in `room`. */
typedef struct row {
    const char *text, *second;
    size_t n_text, n_second; /* bytes */
    double label;            /* of a class its number */
} row;
typedef struct rows { /* a file being read */
    const data_want *want;
    const char *path;
    int64_t line; /* that is read */
} rows;
/* s[0..n): a line without its end; what *out points to lies in there */
bool row_tsv(const rows *r, const char *s, size_t n, row *out, ts_error *e);
/* The texts are in *room, which is for free(). */
bool row_json(const rows *r, const char *s, size_t n, row *out, char **room, ts_error *e);
bool row_number(const rows *r, double v, double *out, ts_error *e); /* checked against what is wanted */

bool data_stream(const data_want *want, const char *path, data *out, ts_error *e); /* one long text, or raw tokens */
bool data_arrays(const data_want *want, data *out, ts_error *e);                   /* .npy files, [example, ...] each */
size_t data_mark(const bytes *file); /* bytes of the mark of UTF-8 that some editors put before a text: 0 or 3 */
bool path_ends(const char *path, const char *ending); /* ".jsonl" */
#endif
