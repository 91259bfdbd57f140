/* reader.h - a network as its file gives it, in a form through which no file format shows (graph/onnx/steps.h). A
 * reader fills it from one format and checks what is particular to that format; builder.c checks the rest. All memory
 * is the arena's or a mapped file's and lasts until model_file_free. */
#pragma once
#include "graph/onnx/steps.h"
#include "import/external.h"
#include "import/limits.h"

typedef struct opset {
    const char *domain;
    int version;
} opset;
enum { NEWEST_OPSET = 28 }; /* of the standard domain; a newer one may mean other things by the same names */
/* Appends one, for which there is room; M010 for what is no version, newer than what is known here, or another one. */
bool opset_add(opset *list, int *n, const char *domain, int64_t version, err *e);

/* What a file defines by itself: a step whose type is its name stands for its steps. */
typedef struct function {
    const char *domain, *name;
    int n_opset, n_attr;
    opset *opset;
    const attr *attr; /* of those that a step may leave out, the value then; tensors as in a step */
    const ts_array *const *tensor;
    body body;
} function;

/* What a format may say about a free dimension beside its name: most 0: no bound, fallback -1: none. */
typedef struct dim_rule {
    const char *symbol;
    int64_t least, most, fallback;
} dim_rule;

/* A scalar function, as ts_function takes it: texts of steps may call it. */
typedef struct scalar_text {
    const char *head, *text, *derivative; /* derivative: NULL where it follows from the text */
} scalar_text;

typedef struct model_file {
    arena mem;
    limits limits; /* what it may cost; there before the file is read */
    mapping map;   /* the file itself */
    external external;
    const char *name;
    int n_opset, n_function, n_rule;
    opset *opset;
    body main;
    function *function;
    int n_scalar;
    scalar_text *scalar;
    dim_rule *rule;
    /* Inputs and outputs of a kind that nothing here can be, a sentence each. What is refused is reported together with
     * operators that are not supported, if the outputs need it. */
    int n_refused, cap_refused;
    const char **refused;
} model_file;
void model_file_refuse(model_file *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void model_file_free(model_file *f);
/* Appends what source, a JSON object with members of graph/1, describes: "inputs", "constants", "nodes"; "outputs"
 * replace the file's. */
bool graph_json_add(model_file *f, const char *source, err *e);

typedef struct reader {
    const char *name;
    const char *in_folder; /* the file that stands for a folder: "model.onnx"; NULL: none does */
    /* Whether a file is of this format, by its name and its first n bytes (n may be 0). */
    bool (*is)(const char *path, const unsigned char *head, size_t n);
    bool (*read)(const char *path, model_file *out,
                 err *e); /* out is zero but for limits; the caller frees it in any case */
    bool (*build)(ts_model *m, ts_graph *g, ts_error *e); /* in its place: m->path is a recipe, as in ts_builder */
} reader;
extern const reader *const readers[]; /* const reader reader_NAME in import/, gathered by the build; ends with NULL */
