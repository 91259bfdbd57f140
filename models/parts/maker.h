/* maker.h - what makes a model: calls with formatted attributes, weights under the names that the field knows, checked
 * extents. Every weight has a seed of its own, counted in the order of making; so a model's numbers follow from its
 * structure and not from the extents that it is bound to. What is made belongs to the graph; after a mistake everything
 * made is NULL, and the graph keeps the reason. */
#pragma once
#include "tessera.h"

typedef struct maker {
    ts_graph *g;
    uint64_t weights; /* made so far, and the seed of the last */
    char scope[64];   /* stands before the names of weights: "encoder.layer.3." */
} maker;

/* Weights made from here on are named within this scope, until the next one or none. */
void maker_enter(maker *mk, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void maker_leave(maker *mk);
/* f32, uniform in mean - scale ... mean + scale; its name is scope, name and part: "h.0." "attn.c_attn" ".bias". */
ts_tensor maker_weight(maker *mk, const char *name, const char *part, int rank, const int64_t *dim, double mean,
                       double scale);
ts_tensor maker_call(ts_graph *g, int n, const ts_tensor *in, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Gives what was made a name within the scope, by which schemas know its kernel. */
ts_tensor maker_named(maker *mk, ts_tensor t, const char *name);
int64_t maker_extent(ts_tensor t, int axis); /* negative axes count from the end; 0 for NULL */

/* Whether low <= dimension <= high; if not, *e says so, with what it counts. */
bool maker_within(const ts_model *m, const char *dim, int64_t low, int64_t high, const char *what, ts_error *e);
