/* window.h - what convolution and pooling share: a window of `kernel` points, `dilation` apart, that visits every
 * `stride`-th place of each spatial axis of [batch, channel, space...], with `before` and `after` unreal elements
 * at the ends. */
#ifndef TS_WINDOW_H
#define TS_WINDOW_H
#include "graph/ir/rule.h"

enum { MAX_SPACE = 3 };
typedef struct window {
    int n; /* spatial axes: 1 to 3 */
    int64_t in[MAX_SPACE], out[MAX_SPACE], kernel[MAX_SPACE], stride[MAX_SPACE], dilation[MAX_SPACE], before[MAX_SPACE],
        after[MAX_SPACE];
    bool ceil; /* the last window may begin inside and end beyond the padding */
} window;

/* From n's attributes strides, dilations, pads (each optional), and ceil_mode if it has one. in[0] is [batch,
 * channel, space...]. */
bool window_read(const node *n, const int64_t *kernel, window *w, err *e);
/* The place that kernel point `k` of result `o` reads along spatial axis s. */
const expr *window_place(arena *mem, const window *w, int s, const expr *o, const expr *k);
/* Whether that place is real, for all spatial axes whose windows can leave the tensor; NULL when none can. */
const expr *window_inside(arena *mem, const window *w, const expr *const *place);
/* An ONNX node's kernel_shape (or `kernel` where absent), strides, dilations, and pads or auto_pad, as three
 * attributes in out. */
bool window_adapt(const onnx_call *c, const int64_t *kernel, attr out[3], err *e);
/* Its ceil_mode, which is only for pads that are given: with VALID the extent is ceil((in - reach + 1) / stride), reach
 * being what a window covers, in either mode. */
attr window_ceil(const onnx_call *c);
#endif
