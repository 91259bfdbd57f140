/* steps.h - a network as a list of operators: values that are held, and steps that make values from values, all known
 * by name. What files are read into, and what graphs are restated as. All memory is the maker's. */
#pragma once
#include "graph/ir/op.h"

/* A tensor in the file. Its data lies where the file has it: not always aligned, never to be written. */
typedef struct held {
    const char *name;
    ts_array value;
    const char *refused;  /* why nobody here can use it; NULL: usable */
    const ts_port *input; /* as which it may be given in place of this value, its default; NULL: it may not */
} held;

typedef struct body body;

typedef struct step {
    const char *type, *domain, *name; /* domain "" is the standard one */
    int n_in, n_out, n_attr, n_body;
    const char *const *in, *const *out; /* "" where absent */
    const attr *attr;                   /* inside functions of kind 'r' too: the caller's attribute named s */
    const ts_array *const *tensor;      /* of attributes of kind 't'; else NULL */
    body *body;                         /* attribute of kind 'g': body[i] of these */
    const ts_port *types;               /* attribute of kind 'y': types[i], without a name */
    const char *refused;                /* why nobody here can do it, as far as the format tells; NULL: to be seen */
} step;

/* A graph: the model's own, one inside a step (which sees the values around it too), or what a function does. */
struct body {
    int n_input, n_output, n_held, n_step;
    /* rank -1: not stated; every free dimension has a symbol; dtype of outputs may be TS_N_DTYPE */
    ts_port *input, *output;
    held *held;
    step *step;
    struct links *links; /* by links_make */
};
