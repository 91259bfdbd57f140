/* model.h - what ts_model is: a network from a file or from a built-in recipe, its ports, and once its dimensions are
 * bound, its graph. Names, ports and links live as long as the model; graph and nodes until the next bind.
 *
 * The room:  onnx/, json*, safetensors, tensors, external   files -> model_file: neutral steps, bounded by limits
 *            links, builder, below                            steps -> nodes; loops unrolled, calls inlined
 *            bind, dims, names, name                          dimensions and values of a run
 *            restate, loosen, steps*, edit, describe          models as steps again, written and shown
 *            text/                                            tokenizers */
#pragma once
#include "graph/ir/graph.h"
#include "import/reader.h"

/* How the steps of a graph hang together. Values are numbered: inputs first, then what the file holds, then outputs of
 * steps, then what comes from the graph around it. */
typedef struct links {
    int n_value, n_order, n_capture;
    const int *operand;   /* values that all steps take, one step after the other; -1 where absent. Behind those that a
                             step names stand those that the graphs in it take from here */
    const int *first_in;  /* where a step's operands begin in it */
    const int *first_out; /* the value that is a step's output 0 */
    const int *order;     /* the steps that the outputs need, each behind those that it needs; n_order of them */
    const int *result;    /* the value of each output of the graph */
    const int *capture;   /* by the graph around it: the values that this one takes from there */
} links;
bool links_make(model_file *f, arena *mem, err *e); /* of all graphs in f */

/* A named dimension. */
typedef struct dimension {
    const char *symbol;
    int64_t extent;      /* -1: not bound */
    bool named;          /* bound by name, "seq=128" */
    int64_t low, high;   /* the range asked for; high -1: none */
    int64_t step;        /* and within it multiples of this */
    const char *range;   /* who asked for it, for messages */
    const char *sum;     /* "past+1": what it is of others; NULL: its own */
    const char *tied;    /* who said so */
    int64_t least, most; /* bounds that the format states; most 0: none */
    int64_t fallback;    /* -1: none */
    const char *by;      /* who bound it, for messages */
} dimension;
typedef struct dims {
    arena *mem;
    int n;
    dimension *all;
    bool ranged;       /* one has a range: its graph is one of several, see g_few_trips */
    bool labels;       /* names are labels: values that contradict each other are taken as they are */
    const char *notes; /* which were, a line each; NULL: none */
} dims;
dimension *dims_find(const dims *d, const char *symbol);
void dims_reset(dims *d); /* as before anything was bound */
/* Those that the inputs of m, declared, mention. */
void dims_collect(ts_model *m);
/* "seq=128", the range "seq=1..128", in steps "width=64..512/64", or the sum "total=past+seq", as given on a command
 * line. */
bool dims_set(dims *d, const char *assignment, err *e);
bool dims_give(dims *d, const char *symbol, int64_t n, err *e); /* as the value of the input of that name */
/* What the shape given for an input says about it and about the dimensions; p gets its extents. */
bool dims_match(dims *d, ts_port *p, const ts_array *shape, err *e);
bool dims_default(dims *d, err *e); /* for what is not bound: the largest extent of its range, or its fallback */
/* Every free extent of p; an error names the dimension that is not bound and says how to bind it. */
bool dims_fill(const dims *d, ts_port *p, err *e);

/* What a model wants and nobody here can do, gathered so that all of it is said at once. */
typedef struct unsupported_one {
    const char *what;   /* "Foo (opset 17, f32)", or a whole sentence */
    const char *reason; /* "" when there is nothing to add */
    const char *first;  /* the first place of it; "" for sentences */
    int count;
} unsupported_one;
typedef struct unsupported {
    arena mem;
    unsupported_one *all;
    int n, cap, more; /* more: beyond those told apart */
} unsupported;
void unsupported_add(unsupported *l, const char *what, const char *reason, const char *place);
bool unsupported_tell(const unsupported *l, err *e); /* false and TS_UNSUPPORTED when there are any */
void unsupported_free(unsupported *l);

typedef struct ports {
    int n_input, n_output;
    ts_port *input, *output;
} ports;

struct ts_model {
    arena mem;
    const char *path;          /* file, or name of the built-in model */
    const ts_builder *builder; /* NULL: from a file */
    model_file file;
    dims dims, counts; /* counts: inputs of one whole number, of which a range may be given as of a dimension */
    ts_bound *origin;  /* of a built-in model that was changed: its steps borrow from it; else NULL */
    ports *declared;   /* a built-in model's are learned when they are asked for: see builtin_ports */
    /* After ts_model_bind, until the next one: */
    bool waits; /* of a bind that failed: because of values that were not given, and of nothing else */
    graph *graph;
    arena bound_mem; /* of what follows */
    ports *bound;
    const node **result; /* one per output */
    struct build *build; /* what a built-in recipe said so far */
};

const ports *model_ports(const ts_model *m); /* as bound, or as declared */
void steps_json(text *t, const body *b);     /* the steps of a file, graphs inside them too, as an object */
void model_unbind(ts_model *m);

/* What a graph is built for: inputs with all their extents, those that are entries of the same sequence one after the
 * other, and the values that are known already. */
typedef struct binding {
    int n;
    ts_port *input;
    preset *preset;
} binding;
/* The steps of a file as nodes on g; result gets a value per output. Without a binding, only says what is not
 * supported. */
bool builder_run(const model_file *f, const binding *b, graph *g, onnx_value *result, err *e);
/* A graph as a file that nobody read: its nodes as steps of ONNX. The caller frees the file's memory; ports are the
 * caller's. TS_UNSUPPORTED lists operations without a way back. */
typedef struct made_graph {
    const char *name;
    const graph *graph;
    ports ports;
    const node *const *result; /* of each output */
    bool bare;                 /* weights are to have no data */
} made_graph;
bool restate_graph(const made_graph *from, model_file *out, err *e);
/* f: m, built in and bound, restated. Frees the extents that follow dimensions which nobody bound by name, where the
 * steps allow it. */
bool loosen_model(const ts_model *m, model_file *f, err *e);
/* Valid values of inputs of integers that choose entries along an axis are [0, its extent), of those that are asked
 * only whether they are zero [0, 2): below[i] for input[i], 0 where nothing is known. */
void below_find(int n_result, const node *const *result, int n, const node *const *input, int64_t *below);

/* ---- built-in models ---- */
extern const ts_builder
    *const builder_tables[]; /* const ts_builder builders_NAME[] in models/, gathered by the build */
const ts_builder *builtin_find(const char *name);
bool builtin_open(ts_model *m, err *e);
/* A recipe of the model's own; the name lasts as long as m. */
bool recipe_open(ts_model *m, const char *name, bool (*build)(ts_model *, ts_graph *, ts_error *), err *e);
/* line.c: a model that is one operation, "matmul f32[512,512] f32[512,512]" */
bool line_is(const char *what); /* no such operation need be there */
bool line_open(ts_model *m, const char *what, err *e);
/* Inputs and outputs at the default extents; an extent that follows a dimension is free and has its symbol. */
const ports *builtin_ports(const ts_model *m);
/* Builds at the extents bound, the defaults for the rest: m->bound and m->result. */
bool builtin_bind(ts_model *m, err *e);
/* Another one of the same recipe, built at extents of all dimensions; NULL when they do not fit it. */
ts_model *builtin_make(const ts_model *m, const int64_t *extent);
