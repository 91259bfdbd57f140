/* window.c - the geometry of sliding windows. */
#include "graph/ops/window.h"

#include <string.h>

bool window_numbers(const node *n, const char *name, int count, int64_t *out, int64_t least, int64_t otherwise, err *e)
{
    const attr *a = node_attr(n, name);
    if (a->kind != '-' && a->n != count)
        return err_set(e, TS_BAD_INPUT, "%s: %d numbers, %d expected", name, a->n, count);
    for (int i = 0; i < count; i++) {
        out[i] = a->kind == '-' ? otherwise : a->ints[i];
        if (out[i] < least)
            return err_set(e, TS_BAD_INPUT, "%s: %lld, at least %lld expected", name, (long long)out[i],
                           (long long)least);
    }
    return true;
}

bool window_steps(const node *n, window *w, int64_t least, err *e)
{
    int64_t pads[2 * MAX_SPACE];
    if (!window_numbers(n, "strides", w->n, w->stride, 1, 1, e) ||
        !window_numbers(n, "dilations", w->n, w->dilation, 1, 1, e) ||
        !window_numbers(n, "pads", 2 * w->n, pads, least, 0, e))
        return false;
    for (int s = 0; s < w->n; s++)
        w->before[s] = pads[s], w->after[s] = pads[s + w->n];
    return true;
}

/* Floor or ceil of (padded - reach) / stride, plus 1. With ceil, one window may be longer than all there is. */
bool window_places(window *w, int s, int64_t least)
{
    int64_t reach, padded;
    const int64_t stride = w->stride[s];
    bool ok = w->kernel[s] >= 1 && int_mul(w->kernel[s] - 1, w->dilation[s], &reach) &&
              int_add(w->in[s], w->before[s], &padded) && int_add(padded, w->after[s], &padded) &&
              int_add(padded, -1 - reach, &padded);
    ok = ok && (padded < 0 || stride < INT64_MAX - padded);
    if (ok) {
        const int64_t up = w->ceil ? padded + stride - 1 : padded;
        w->out[s] = (up >= 0 ? up / stride : -((-1 - up) / stride) - 1) + 1;
        if (w->ceil && w->out[s] > 0 && (w->out[s] - 1) * stride >= w->in[s] + w->before[s])
            w->out[s]--; /* would begin in the end padding */
    }
    return ok && w->out[s] >= least;
}

static bool read(const node *n, const int64_t *kernel, int64_t least, window *w, err *e)
{
    const type *t = &n->in[0]->type;
    *w = (window){.n = t->rank - 2};
    if (w->n < 1 || w->n > MAX_SPACE)
        return err_set(e, TS_UNSUPPORTED, "rank %d, [batch, channel, space...] with 1 to %d axes of space expected",
                       t->rank, MAX_SPACE);
    if (!window_steps(n, w, 0, e))
        return false;
    for (const attr_spec *s = n->op->attr; s->name; s++)
        if (!strcmp(s->name, "ceil_mode"))
            w->ceil = node_int(n, "ceil_mode");
    for (int s = 0; s < w->n; s++) {
        w->in[s] = t->dim[s + 2], w->kernel[s] = kernel[s];
        if (!window_places(w, s, least))
            return err_set(e, TS_BAD_INPUT,
                           "a window of %lld, dilated by %lld, does not fit spatial axis %d of extent %lld with pads "
                           "of %lld and %lld",
                           (long long)w->kernel[s], (long long)w->dilation[s], s, (long long)w->in[s],
                           (long long)w->before[s], (long long)w->after[s]);
    }
    return true;
}

bool window_read(const node *n, const int64_t *kernel, window *w, err *e)
{
    return read(n, kernel, 1, w, e);
}

bool window_kernel(const node *n, window *w, err *e)
{
    const attr *kernel = node_attr(n, "kernel");
    if (kernel->n != n->in[0]->type.rank - 2)
        return err_set(e, TS_BAD_INPUT,
                       "kernel: %d extents for rank %d, one for each axis behind the first two expected", kernel->n,
                       n->in[0]->type.rank);
    return read(n, kernel->ints, 0, w, e);
}

/* The place that kernel point `k` of result `o` reads along spatial axis s. */
static const expr *place_of(arena *mem, const window *w, int s, const expr *o, const expr *k)
{
    const expr *start = x_offset(mem, o, w->stride[s], -w->before[s]);
    return w->kernel[s] == 1 ? start : x2(mem, "add", start, x_offset(mem, k, w->dilation[s], 0));
}

static const expr *is_inside(arena *mem, const window *w, const expr *const *place)
{
    const expr *all = NULL;
    for (int s = 0; s < w->n; s++) {
        const expr *low = w->before[s] ? x2(mem, "le", x_whole(mem, 0), place[s]) : NULL;
        const expr *high = w->after[s] > 0 || w->ceil ? x2(mem, "lt", place[s], x_whole(mem, w->in[s])) : NULL;
        all = x_both(mem, all, x_both(mem, low, high));
    }
    return all;
}

const expr *window_element(defn *d, const window *w, const expr **at, uint32_t *folds)
{
    *folds = 0, at[0] = x_axis(d->mem, 0), at[1] = x_axis(d->mem, 1);
    for (int s = 0; s < w->n; s++) {
        const int axis = defn_fold(d, w->kernel[s]);
        *folds |= 1u << axis;
        at[s + 2] = place_of(d->mem, w, s, x_axis(d->mem, s + 2), x_axis(d->mem, axis));
    }
    return is_inside(d->mem, w, at + 2);
}

/* ---- ONNX ---- */
static bool ones_or(const onnx_call *c, const char *name, int n, int64_t *out, err *e)
{
    int got = n;
    for (int i = 0; i < n; i++)
        out[i] = 1;
    if (onnx_attr(c, name) && !onnx_ints(c, name, -1, out, n, &got, e))
        return false;
    return got == n || err_set(e, TS_BAD_INPUT, "%s: %s has %d numbers for %d spatial axes", c->type, name, got, n);
}

/* SAME_*: as many results as ceil(in / stride), the padding split evenly with the odd element at the end (UPPER)
 * or beginning. */
static bool automatic(const char *how, window *w, int s)
{
    const int64_t in = w->in[s], stride = w->stride[s];
    int64_t reach, need;
    if (!strcmp(how, "VALID"))
        return true;
    if (stride < 1 || !int_mul(w->kernel[s] - 1, w->dilation[s], &reach) ||
        !int_mul((in + stride - 1) / stride - 1, stride, &need))
        return false;
    if (!int_add(need, reach + 1 - in, &need))
        return false;
    if (need < 0)
        need = 0;
    w->before[s] = strcmp(how, "SAME_LOWER") ? need / 2 : need - need / 2;
    w->after[s] = need - w->before[s];
    return !strcmp(how, "SAME_UPPER") || !strcmp(how, "SAME_LOWER");
}

/* The attribute may be left out; where it is not, it says what the weight says. */
static bool kernel_agrees(const onnx_call *c, int n, const int64_t *kernel, err *e)
{
    int64_t given[MAX_SPACE];
    int got = n;
    if (onnx_attr(c, "kernel_shape") && !onnx_ints(c, "kernel_shape", -1, given, MAX_SPACE, &got, e))
        return false;
    if (got != n)
        return err_set(e, TS_BAD_INPUT, "%s: kernel_shape has %d extents for %d spatial axes", c->type, got, n);
    for (int s = 0; onnx_attr(c, "kernel_shape") && s < n; s++)
        if (given[s] != kernel[s])
            return err_set(e, TS_BAD_INPUT, "%s: kernel_shape is %lld along spatial axis %d, where the weight has %lld",
                           c->type, (long long)given[s], s, (long long)kernel[s]);
    return true;
}

bool window_adapt(const onnx_call *c, const int64_t *kernel, attr out[3], err *e)
{
    const int n = c->in[0]->type.rank - 2;
    const char *how = onnx_word(c, "auto_pad", "NOTSET");
    int got = 2 * MAX_SPACE;
    if (n < 1 || n > MAX_SPACE)
        return err_set(e, TS_UNSUPPORTED, "%s of rank %d, 3 to %d expected: batch, channel and 1 to %d spatial axes",
                       c->type, n + 2, MAX_SPACE + 2, MAX_SPACE);
    if (!kernel_agrees(c, n, kernel, e))
        return false;
    int64_t *strides = arena_array(&c->g->mem, 4 * MAX_SPACE, sizeof *strides);
    int64_t *dilations = strides + MAX_SPACE, *pads = strides + 2 * MAX_SPACE;
    if (!ones_or(c, "strides", n, strides, e) || !ones_or(c, "dilations", n, dilations, e))
        return false;
    if (!strcmp(how, "NOTSET")) {
        if (onnx_attr(c, "pads") && !onnx_ints(c, "pads", -1, pads, 2 * MAX_SPACE, &got, e))
            return false;
        if (onnx_attr(c, "pads") && got != 2 * n)
            return err_set(e, TS_BAD_INPUT, "%s: %d pads for %d spatial axes, two for each expected", c->type, got, n);
    } else {
        window w = {.n = n};
        for (int s = 0; s < n; s++) {
            w.in[s] = c->in[0]->type.dim[s + 2], w.kernel[s] = kernel[s], w.stride[s] = strides[s];
            w.dilation[s] = dilations[s];
            if (!automatic(how, &w, s))
                return err_set(e, TS_BAD_INPUT,
                               "%s: auto_pad \"%s\"; VALID, SAME_UPPER or SAME_LOWER and strides of 1 or more expected",
                               c->type, how);
            pads[s] = w.before[s], pads[s + n] = w.after[s];
        }
    }
    out[0] = attr_ints("strides", n, strides), out[1] = attr_ints("dilations", n, dilations),
    out[2] = attr_ints("pads", 2 * n, pads);
    return true;
}

/* Rounding up is for pads that are given: with VALID the extent is ceil((in - reach + 1) / stride), reach being what a
 * window covers, in either mode. */
static attr ceil_mode(const onnx_call *c)
{
    const bool valid = !strcmp(onnx_word(c, "auto_pad", "NOTSET"), "VALID");
    return attr_int("ceil_mode", valid ? 0 : onnx_int(c, "ceil_mode", 0));
}

bool window_adapt_pool(const onnx_call *c, attr out[5], err *e)
{
    const int rank = c->in[0]->type.rank;
    int64_t *kernel = arena_array(&c->g->mem, MAX_SPACE, sizeof *kernel);
    int n;
    if (!onnx_ints(c, "kernel_shape", -1, kernel, MAX_SPACE, &n, e))
        return false;
    if (n != rank - 2)
        return err_set(e, TS_BAD_INPUT,
                       "%s: %d kernel extents for rank %d, one for each axis behind the first two expected", c->type, n,
                       rank);
    out[3] = attr_ints("kernel", n, kernel), out[4] = ceil_mode(c);
    return window_adapt(c, kernel, out, e);
}
