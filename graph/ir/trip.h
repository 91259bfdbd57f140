/* trip.h - scans: loops as nodes. A scan has operands (first values of its states, tensors of which each trip takes one
 * row, and what every trip reads), and a trip: what one of them computes, as nodes of the same graph over bound inputs,
 * which stand for nothing outside. Bound input k is operand k: the state as it is, the row at hand, or the whole
 * tensor; the one behind the last operand is the trip's number, i64. The trip's results are the states' next values,
 * then rows to be gathered, then, where the scan has `until`, a truth value that makes this trip the last one.
 *
 * A trip is closed: it reads bound inputs and constants, so whoever rewrites what is around it need not look inside;
 * equal trips are the same nodes, and what does not change from trip to trip stands outside. Outputs of the node are
 * the states' last values, then each gathered row along a new first axis; after an early end these are zero. They share
 * one value as those of custom operations do (custom.h). Trips are the graph's, and live as long as its nodes. */
#pragma once
#include "graph/ir/graph.h"

typedef struct scan_form { /* what a scan's attributes say */
    int64_t trips;
    int n_state, n_slice, n_row;
    const int64_t *slice, *row; /* of each: 1: from the last one backwards; else 0 */
    const int64_t *every;       /* of each row: see scan_place; NULL: 1 of all */
    bool until;
    int64_t keep; /* states kept for a gradient: every so many, 1 all, 0 about as many as the root of trips */
} scan_form;
scan_form scan_form_of(const node *n);
/* Where trip t puts row i: row t, or of rows kept every k-th trip the place that the last trip of its run of k writes,
 * so that what stays is of trips 0, k, 2 k, ... */
int64_t scan_place(const scan_form *f, int i, int64_t t);
int64_t scan_rows(const scan_form *f, int i); /* that all trips leave of gathered row i: every k-th stays */
extern const op scan_op;                      /* of no table: a call alone does not say what a trip is */

bool trip_same(const scan_trip *a, const scan_trip *b); /* either may be NULL */
type trip_row(const type *t);                           /* of what is sliced, or gathered, along its first axis */
bool trip_infer(graph *g, node *draft, err *e);
int64_t trip_operand(const node *bound); /* which operand it stands for; n_in of the scan: the number of the trip */
const node *trip_bound(graph *g, int64_t k, const type *t);
host_code trips_run; /* all of them, by the interpreter */
/* Whether what is to be computed waits for no trip that is still being built. False: g->err says which does. */
bool trips_ended(graph *g, const char *what, int n, const node *const *root);

void scan_trips(ts_scan *s, int64_t trips); /* in place of those it began with: before anything is sliced */
/* ts_scan_gather of every so many trips: forwards */
bool scan_gather_every(ts_scan *s, const node *row, int64_t every);
/* The chain rule, and batches, of what a trip computes are the caller's: as ts_chain_rule, ts_batch */
typedef bool trip_chain(graph *g, int n_out, const ts_tensor *out, const ts_tensor *seed, int n_in, const ts_tensor *in,
                        ts_tensor *grad);
typedef bool trip_batching(graph *g, int n, const ts_tensor *t, int n_pair, const ts_tensor *from, const ts_tensor *to,
                           ts_tensor *out);
/* What the operands of scan n receive from dy of its outputs: another scan, backwards over states that the first one
 * keeps. dy: NULL where nothing arrives; active: the operands that are asked for; dx: NULL where nothing does. */
bool trip_gradient(graph *g, const node *n, const node *const *dy, const bool *active, const node **dx,
                   trip_chain *chain);

/* Scan n over a batch of so many values: in: of each operand the one with the batch's axis in front; NULL: all have it
 * as it is. out: each output with that axis in front. */
bool trip_batch(graph *g, const node *n, int64_t size, const node *const *in, const node **out, trip_batching *batch);

const node *g_make_scan(graph *g, const op *o, int n, const node *const *in, const attr *a, int n_attr,
                        const scan_trip *t);
