/* transformer.h - the parts of a transformer block.
 * Letters: b batch, s positions, t positions seen, h heads, d = width / h. Tensors are the graph's; the maker is
 * borrowed for the call. */
#pragma once
#include "models/parts/layer.h"

/* Rows first ... first + rows - 1 of a table: positions that are known need no gather. */
ts_tensor transformer_places(maker *mk, ts_tensor table, int64_t first, int64_t rows);
/* i64[b, t], 0 where padded -> f32[b, 1, 1, t], added to scores: 0 where seen, else the lowest number */
ts_tensor transformer_mask(maker *mk, ts_tensor attention_mask);
ts_tensor transformer_split(maker *mk, ts_tensor x, int heads); /* [b, s, h * d] -> [b, h, s, d] */
ts_tensor transformer_merge(maker *mk, ts_tensor x);            /* [b, h, s, d] -> [b, s, h * d] */

typedef struct feed { /* two dense layers with a function between */
    int64_t inner;
    double gain;                      /* of the layer down */
    const char *function, *up, *down; /* a call, and the names of the layers */
} feed;
ts_tensor transformer_feed(maker *mk, ts_tensor x, const feed *f);
