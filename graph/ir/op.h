/* op.h - one operation, declared once. Exactly one of text, body, lower is given; everything else about the operation
 * is derived: interpreter, C, fusion, cost, printing, and pointwise gradients. Files in graph/ops/ export ops_NAME[],
 * which ends with {0}, for NAME.c; the build writes the table. The order inside such a file is in STYLE.md, "Files".
 * Records are constant; attributes, drafts and definitions lie in the arena of the graph or of whoever asks, and values
 * of attributes are borrowed from there. */
#pragma once
#include "graph/ir/expr.h"

typedef struct ts_graph graph;
typedef struct group group;

/* An attribute's value; the kind says which field. */
typedef struct attr {
    const char *name;
    char kind; /* i int, f real, s string, I ints, F reals; '-' not given; from files also S: lines of s, y: a type */
    int n;     /* I, F, S: how many */
    int64_t i; /* of kind r in functions, an attribute of the caller's named s: its kind, or 0 */
    double f;
    const char *s;
    const int64_t *ints;
    const double *reals;
} attr;
typedef struct attr_spec {
    const char *name; /* axis, axes: of every operation these are numbers of dimensions, from the end where negative */
    char kind;
    /* as written in a call: "-1", "[1,1]", "none"; NULL: required; "" : may be absent ('-'); "own": a number that no
     * other call has, of kind i */
    const char *fallback;
} attr_spec;

/* defn: one element of a node's value over axes. Axes 0..rank-1 walk the result, later ones are folded away. At most
 * one fold. */
typedef struct defn {
    arena *mem;
    const node *node;
    err *err; /* of a body that fails */
    int n_axis;
    int64_t extent[MAX_AXIS];
    const expr *value;
} defn;
int defn_fold(defn *d, int64_t extent);    /* adds an axis to be folded; gives its number */
const expr *defn_in(defn *d, int operand); /* operand broadcast (numpy) to the result's axes */
const expr *defn_at(defn *d, int operand, const expr *const *subscript);
const expr *defn_text(defn *d, err *e); /* what the operation's text says, of its own dtype */
/* The definition is this routine over all operands; r and its numbers are copied. */
const expr *defn_routine(defn *d, const routine *r);

/* A value that the steps of a file pass on: a node, or what holds several while a graph is built (no node does). */
typedef struct onnx_value {
    const node *node;             /* NULL: none, or a list */
    const struct onnx_list *list; /* NULL: none, or a node */
    const attr *texts;            /* the list of texts of which the node has places; NULL: they are numbers */
    const char *none;             /* of texts: what its place -1 stands for */
} onnx_value;
typedef struct onnx_list {
    bool optional; /* of at most one value; otherwise a sequence */
    dtype dtype;   /* of tensors to come, when it is an empty sequence; TS_N_DTYPE: not known */
    int n;
    const onnx_value *item;
    const node *rows; /* more items behind these, as many as it has rows: what trips of a loop added; NULL: none */
} onnx_list;

/* A call as ONNX wrote it, operands already nodes: what an adapter turns into nodes. */
typedef struct onnx_call onnx_call;
/* One pass through the graph that is a call's attribute: as many values in as it has inputs, at most as many out as it
 * has outputs. */
typedef struct onnx_pass {
    const char *attribute;
    int n_in, n_out;
    const onnx_value *in;
    onnx_value *out;
} onnx_pass;
struct onnx_call {
    graph *g;
    const struct op *op; /* through whose rule it goes */
    const struct onnx_rule *rule;
    const char *type, *domain, *name;
    int version; /* of the operator set in use */
    int n_in, n_out;
    const node *const *in; /* NULL where absent */
    int n_attr;
    const attr *attr;
    const ts_array *const *tensor; /* of attribute i, when it is a tensor (its kind is 't'); else NULL */
    const onnx_value *value;       /* operands, lists among them */
    bool (*pass)(const onnx_call *c, const onnx_pass *p, err *e);
    /* The same where there is another way: what cannot be done makes it fail, and is not told. */
    bool (*attempt)(const onnx_call *c, const onnx_pass *p, err *e);
    void *user; /* whoever made the call */
};
const attr *onnx_attr(const onnx_call *c, const char *name); /* NULL when absent */
int64_t onnx_int(const onnx_call *c, const char *name, int64_t fallback);
double onnx_real(const onnx_call *c, const char *name, double fallback);
/* Integers from attribute `name` if present, else from constant input i; false when absent or not constant (then
 * *e is set). */
bool onnx_ints(const onnx_call *c, const char *name, int i, int64_t *out, int max, int *n, err *e);

typedef bool onnx_adapter(const onnx_call *c, const node **out, err *e);
/* An operator of ONNX that an adapter makes; says: the words of `op.onnx`. */
typedef struct onnx_adapted {
    const char *says;
    onnx_adapter *adapt;
} onnx_adapted;
/* The same for calls with lists or graphs among what they take or give. Where a type has both, the form serves calls
 * with a list among their operands. */
typedef struct onnx_formed {
    const char *says;
    bool (*make)(const onnx_call *c, onnx_value *out, err *e);
} onnx_formed;

#define ADAPTED(...) ((const onnx_adapted[]){__VA_ARGS__, {0}})
#define FORMED(...) ((const onnx_formed[]){__VA_ARGS__, {0}})

/* What such words say, read when the table is made: an operator from an operator-set version on. The newest rule that
 * is not above the file's version is used. */
typedef struct onnx_attribute {
    const char *name, *own,
        *fallback; /* what the operation calls it; what stands for it where it is left out, or NULL */
} onnx_attribute;
typedef struct onnx_rule {
    const char *type; /* other domains than the standard one in front: "com.microsoft.FastGelu" */
    int since;
    const char *types;                                         /* NULL: any */
    int least, most, results;                                  /* operands, and outputs at most; -1: any number */
    const onnx_attribute *attribute;                           /* ends with {0}; NULL: those of the operation */
    onnx_adapter *adapt;                                       /* NULL: a call of the operation */
    bool (*make)(const onnx_call *c, onnx_value *out, err *e); /* of a form */
} onnx_rule;

/* What another way to the same value takes. Whether that is less, who computes it weighs. */
typedef struct way_cost {
    const char *name;       /* of the other way, for people */
    double plain, other;    /* operations: of the definition as it stands, and of the other way's products */
    double least;           /* share of plain that has to be saved: the price of digits, whatever the machine */
    struct {                /* values that are gone through beside: */
        double bytes, size; /* that are read and written; that the larger has, of the value and what is made of it */
    } passed[3];
    double weights, more_weights; /* bytes of weights that the products read, and by how many these grow */
} way_cost;

/* A sum along an axis that may be walked in blocks. */
typedef struct streaming {
    int64_t rows, length, width; /* rows in all; the axis; values that each of its places is summed into */
    dtype dtype;
} streaming;
/* How long blocks are to be; 0: the axis is walked whole. */
typedef int64_t block_size(void *user, const streaming *s);

typedef struct op {
    /* How it is called, words: "lrn a size:i alpha:f=0.0001 -> n c h w | k". The name; a letter for each operand, or
     * "..." for any number; attributes, with kind and what stands in their place where they are left out, as attr_spec
     * has them; letters of the result's axes, from the last one backwards after '|' fold letters. Operands of a text
     * are those that it names, its axes "e". In the table name, arity, axes and attr are read from them. */
    const char *call;
    const char *name;  /* identity everywhere: dumps, schemas, keys, tests */
    const char *doc;   /* one sentence */
    const char *numpy; /* the oracle, over a b c ... and the attribute names; x = [a, b, ...] for any number */
    /* Operators of ONNX that are calls of it, words, with "; " between: "LpNormalization 1 f axis p". The type, the
     * version it is served from, and what the specification asks of operands' element types, in all versions together:
     * a letter for each operand, the last one for all that follow: f real, i integer, n either, b bool, . any; F, I, N
     * the same and T anything, alike for all operands that have one of the four; "-" for all: nothing is asked. Then,
     * where it is not what the operation takes: how many operands ("2", "1..3", "2.."), how many outputs at most where
     * not one (">3", ">*"), and its attributes, of all versions together, in the order of the alphabet:
     * "block:blocksize=2" is blocksize, for the operation block, and 2 where it is left out. */
    const char *onnx;
    const onnx_adapted *adapted;  /* ends with {0}: those that take more than that */
    const onnx_formed *formed;    /* ends with {0} */
    const onnx_rule *rule, *form; /* what the three say, each ends with {0}; read when the table is made */
    /* What the specification leaves undefined of its operators, and what comes out here, wherever it is computed, and
     * where constants are folded: lines "Mod: Of an integer by 0 it is 0." */
    const char *onnx_undefined;
    const char *axes;
    const char *back; /* as operators of ONNX, see back.h; NULL: as a rule without an adapter implies, or not */
    const char *(*back_of)(const node *n); /* in its place, where that depends on the node; NULL: there is none */
    /* How its operators of ONNX look after training: "training_mode=0" an attribute that is another then, "in=2",
     * "out=1" how many operands and results are left; NULL: as in training. */
    const char *trained;
    int arity;             /* -1: any number */
    int fan_in;            /* of any number, associative: more operands than this become a tree of calls; 0: never */
    const attr_spec *attr; /* ends with {0} */
    const char *text;      /* pointwise: the whole definition, over a b c d and numeric attribute names */
    /* Pointwise, by a text of each call's own, which may call functions of the graph: a call that is too long for one
     * node, by several; NULL without g->err: one will do. A graph's own functions take it from the table. */
    const node *(*unrolled)(graph *g, const node *call);
    bool (*shape)(const node *n, type *out, err *e); /* NULL: broadcast, numpy's promoted dtype */
    const expr *(*body)(defn *d);                    /* the element; NULL: d->err has the reason */
    /* How long axes are that operands leave open (-1: open.c), as the others say it, and the result, which is behind
     * them: dim[k][i] of operand k, left -1 where nothing says it. A draft has no result yet: n->type.rank is 0. NULL:
     * pointwise ones as they broadcast, others say none. False: g->err has the reason. */
    bool (*extents)(graph *g, const node *n, int64_t (*dim)[MAX_RANK]);
    /* Whether axis i of operand k is one of the result's: then both may be open, and shape and extents know of it.
     * NULL: of `text` all are, of others none */
    bool (*kept)(const node *n, int k, int i);
    const node *(*lower)(graph *g, const node *n); /* n is a draft: type unset, in and attr valid; builds on g */
    /* The gradient of operand k, in its shape or one that broadcasts to or from it; NULL: none. call: op, in and attr
     * of the call; y: its value; dy: the gradient of y. Only where it is better than what follows from text, body or
     * lower, which is done for an op without. */
    const node *(*grad)(graph *g, const node *call, const node *y, const node *dy, int k);
    /* Whether it is written for operand k of this call; otherwise that one's is derived. NULL: for all. */
    bool (*grad_for)(const node *call, int k);
    /* The same value in another way, up to rounding, and what that takes; false: not of n. NULL: of none. */
    bool (*way)(const node *n, way_cost *c);
    const node *(*alternative)(graph *g, const node *n); /* of what `way` holds for */
    /* The value of n from sums of products of neighbours, of dtype a and of 8 bits, exactly; NULL: not of it. */
    const node *(*in_dots)(graph *g, const node *n, dtype a);
    /* The value of a group of this operation, up to rounding, from blocks of an axis that it sums up, so that no value
     * is as long as rows times that axis; NULL: not of this one, or size says 0. */
    const node *(*in_blocks)(graph *g, const group *q, block_size *size, void *user);
    /* Problems as operators of ONNX have them, lines "MatMulInteger u8[2,3] i8[3,4]", for those that take other
     * operands or attributes than cases has; "-": an operand left out, "*" behind a bracket: the values. The table of
     * what is supported is made from both. */
    const char *onnx_cases;
    const ts_operation *custom; /* a program's own, of one graph; NULL: of the table */
    const char *cases; /* tests: lines "f32[2,3] f32[3] axis=1"; marks behind brackets: tests/graph/ops/oracle.py */
} op;
extern const op
    *const op_tables[]; /* one per file of graph/ops/, which ends with {0}; made by the build; ends with NULL */
const op *op_next(
    const op *o); /* those of all tables with what their words say: the first behind NULL, NULL at the end */
const op *op_find(const char *name);
/* Without text, body and lower: what graphs start from, and what readers of files resolve. No value follows from a
 * call. */
int op_n_attr(const op *o);
bool op_is_bare(const op *o);
/* Domain "tessera": the operation of that name, if there is one; its rule takes the same operands and attributes. */
const op *op_for_onnx(const char *domain, const char *kind, int version, const onnx_rule **rule);
const op *op_for_form(const char *domain, const char *kind, int version, const onnx_rule **form);
/* Why an operator that tools write is left out, and what to bring in its place; "": nothing is known of it. */
const char *onnx_left(const char *domain, const char *kind);
void onnx_left_json(text *t); /* all that is known: objects of an array */
/* One call through its rule: out[0..n_out) are nodes, NULL for outputs that the file does not use. */
bool onnx_apply(const op *o, const onnx_rule *rule, const onnx_call *c, const node **out, err *e);
bool onnx_make(const op *o, const onnx_rule *form, const onnx_call *c, onnx_value *out, err *e);
