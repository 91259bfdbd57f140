/* window.h - what convolution and pooling share: a window of `kernel` points, `dilation` apart, that visits every
 * `stride`-th place of each spatial axis of [batch, channel, space...], with `before` and `after` unreal elements
 * at the ends. A window is a plain value; expressions are of the arena given. */
#pragma once
#include "graph/ir/rule.h"

enum { MAX_SPACE = 3 };
typedef struct window {
    int n; /* spatial axes: 1 to 3 */
    int64_t in[MAX_SPACE], out[MAX_SPACE], kernel[MAX_SPACE], stride[MAX_SPACE], dilation[MAX_SPACE], before[MAX_SPACE],
        after[MAX_SPACE];
    bool ceil; /* the last window may begin inside and end beyond the padding */
} window;

/* out [count]: the numbers of n's list attribute, each of at least `least`; `otherwise` where it is absent. */
bool window_numbers(const node *n, const char *name, int count, int64_t *out, int64_t least, int64_t otherwise, err *e);
/* From n's attributes strides, dilations, pads (each optional), and ceil_mode if it has one. in[0] is [batch,
 * channel, space...]. */
bool window_read(const node *n, const int64_t *kernel, window *w, err *e);
/* The same with n's attribute kernel; a window that just does not fit has no place, and its result is empty. */
bool window_kernel(const node *n, window *w, err *e);
/* Steps and pads alone, of n's attributes and w->n axes; pads of at least `least`. */
bool window_steps(const node *n, window *w, int64_t least, err *e);
/* w->out[s], how many places the window can take; false: fewer than `least`, or too many. */
bool window_places(window *w, int s, int64_t least);
/* Subscripts of the element that kernel point k... of result o... reads, and the axes that are folded over such points,
 * one after the other. Gives whether the place is real, for all spatial axes whose windows can leave the tensor; NULL
 * when none can. */
const expr *window_element(defn *d, const window *w, const expr **at, uint32_t *folds);
/* An ONNX node's kernel_shape (or `kernel` where absent), strides, dilations, and pads or auto_pad, as three
 * attributes in out. */
bool window_adapt(const onnx_call *c, const int64_t *kernel, attr out[3], err *e);
/* Those three, kernel and ceil_mode, of a node whose one way to say the kernel is kernel_shape */
bool window_adapt_pool(const onnx_call *c, attr out[5], err *e);

/* conv.c: shape and value of convolutions, whose second operand is the weight [oc, ic / group, space...] */
bool conv_shape(const node *n, type *out, err *e);
const expr *conv_body(defn *d);

/* What operations with channels in front and behind have, and in this order; as words */
#define MAX_POOL_ATTRIBUTES "kernel:I strides:I= dilations:I= pads:I= ceil_mode:i=0"
#define AVERAGE_POOL_ATTRIBUTES "kernel:I strides:I= dilations:I= pads:I= ceil_mode:i=0 count_include_pad:i=0"
#define CONV_ATTRIBUTES "strides:I= dilations:I= pads:I= group:i=1"
enum { N_CONV_ATTRIBUTES = 4 };
