/* data.h - examples in memory, from the files that people have: TSV, CSV and JSON Lines of texts with a label, arrays
 * as .npy, and a stream of tokens (.txt, .bin). Whatever is wrong is said with its file, its line and the remedy.
 * Examples belong to the data, until data_free. */
#pragma once
#include "train/files.h"

#include <stddef.h>

typedef enum data_label { LABEL_NONE, LABEL_CLASS, LABEL_REAL, LABEL_TEXT } data_label; /* what stands behind a text */
typedef struct data_want {
    const char *files; /* one, or NAME=FILE.npy lines */
    data_label label;
    int64_t classes;   /* LABEL_CLASS: labels are in [0, classes); 0: whatever there is */
    const char *names; /* of the classes, a line each; NULL: they are numbers, or, if it learns, as the data has them */
    bool learns;       /* it is the training data */
    const char *columns; /* TEXT,LABEL: names in a header, or members of JSON; NULL: the usual ones */
    bool stream;         /* one long text of tokens instead of examples */
    int64_t vocabulary;  /* token ids are in [0, vocabulary); 0: unknown */
    int64_t length;      /* tokens of an example, at most */
    const ts_tokenizer *tokenizer;
} data_want;

typedef struct tokens { /* of all examples, one after the other */
    int32_t *id;
    int64_t *at; /* example i: id[at[i]] ... id[at[i + 1] - 1] */
} tokens;

enum { MOST_ARRAYS = 16 }; /* .npy files of one data set */
typedef struct data {
    int64_t n;           /* examples, or tokens of a stream */
    int64_t classes;     /* 1 + the largest label */
    char *names;         /* of classes that have some: a line each, sorted */
    tokens text, second; /* second: LABEL_TEXT */
    double *label;
    bytes file;
    int64_t *line;   /* of the example in it */
    size_t *text_at; /* where the example's text begins in file; with *text_n bytes */
    size_t *text_n;
    int n_array;
    char *name[MOST_ARRAYS];
    ts_array array[MOST_ARRAYS]; /* first axis: the example */
    int64_t cut, cut_first;      /* texts longer than `length`, and the line of the first */
    char hash[65];               /* of the files */
} data;
/* NAME=FILE.npy, and not lines or a stream */
bool data_is_arrays(const char *files);
bool data_read(const data_want *want, data *out, ts_error *e);
/* n texts as examples, without labels. */
bool data_texts(const data_want *want, int64_t n, const char *const *all, data *out, ts_error *e);
void data_free(data *d);
const ts_array *data_array(const data *d, const char *name); /* NULL when there is none */
