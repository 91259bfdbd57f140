"""Deformable convolution, place by place: every point of the kernel reads x where its offset moves it."""
import itertools, math
import numpy as np


def between(x, p):
    """x [space...] at real coordinates, linear, zeros outside."""
    y = 0
    for corner in itertools.product(*((math.floor(v), math.floor(v) + 1) for v in p)):
        if all(0 <= c < n for c, n in zip(corner, x.shape)):
            y += x[corner] * math.prod(1 - abs(v - c) for v, c in zip(p, corner))
    return y


def deform_conv(a, b, c, d, strides, dilations, pads, group, offset_group):
    n = a.ndim - 2
    strides, dilations, pads = strides or (1,) * n, dilations or (1,) * n, pads or (0,) * 2 * n
    out, kernel, inputs = c.shape[2:], b.shape[2:], b.shape[1]
    c = c.reshape(c.shape[0], offset_group, *kernel, n, *out)
    d = d.reshape(d.shape[0], offset_group, *kernel, *out)
    y = np.zeros((a.shape[0], b.shape[0], *out), np.result_type(a, b))
    outs, taps = itertools.product(*map(range, out)), itertools.product(*map(range, kernel))
    for i, oc, ic, o, k in itertools.product(range(a.shape[0]), range(b.shape[0]), range(inputs), outs, taps):
        channel = oc // (b.shape[0] // group) * inputs + ic
        og = channel // (a.shape[1] // offset_group)
        p = [o[s] * strides[s] - pads[s] + k[s] * dilations[s] + c[(i, og, *k, s, *o)] for s in range(n)]
        y[(i, oc, *o)] += between(a[i, channel], p) * d[(i, og, *k, *o)] * b[(oc, ic, *k)]
    return y
