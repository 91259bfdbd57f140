/* custom.h - operations that a program defines for one graph (ts_define): records like those of the table, which die
 * with the graph. A call of one, or a scan (trip.h), with several outputs has one value that holds them all: their
 * elements one after another or, where dtypes differ, their bytes, each output from a multiple of 64 on. The operation
 * "result" takes one out. Kernels stay in the process: nothing that is written down has the address of one. */
#pragma once
#include "graph/ir/graph.h"

enum { MAX_OUTPUT = 8, MAX_NUMBER = 16, MAX_IN = MAX_RANK + 2 };
/* The operation of that name, the graph's own or the table's; NULL: there is none. g may be NULL. */
const op *g_op(const graph *g, const char *name);
/* Adds an operation of that text under a name that is free. */
bool define_text(graph *g, const char *name, int n_in, const char *source, err *e);
/* op.unrolled of who calls functions of the graph, and of these */
const node *call_unrolled(graph *g, const node *call);
/* Another result of the function (scalar.h) that t is a result of; NULL: it is none, or has no such result. */
const node *scalar_output(graph *g, const node *t, int index);
bool custom_infer(graph *g, node *draft, err *e); /* its type, and those of several outputs */
const expr *custom_body(defn *d);                 /* of a record with a kernel */
bool custom_impure(const node *n);

/* Gives the draft of a call n outputs of these types, and the type of the value that holds them. */
bool custom_pack(graph *g, node *draft, int n, const type *t, err *e);
/* Where an output begins in the value: in its elements */
int64_t custom_place(const node *n, int index);
/* Outputs of a scan that lie as bytes: where reals are held as f64, each byte has the room of so many. */
enum { WIDE_BYTES = 8 };
bool custom_widens(const node *n);
type custom_wide(const node *n);   /* of the value where reals are held so */
int custom_outputs(const node *n); /* 1 of all other operations */
const type *custom_type(const node *n, int index);
const node *custom_output(graph *g, const node *n, int index); /* n itself where it has one */
/* The call of which n is an output among several, and which one; NULL: n is none. */
const node *custom_call(const node *n, int *index);
/* What `whole`, of the value's type, has in the place of that output. */
const node *custom_part(graph *g, const node *n, int index, const node *whole);
/* dx[k] of all operands, NULL for nothing, from dy of all outputs, by the operation's own gradient. False: g->err says
 * why. */
bool custom_gradient(graph *g, const node *n, const node *const *dy, const node **dx);
