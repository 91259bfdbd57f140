"""Transposed convolution as it is defined: every element of the input adds a scaled kernel to the result."""
import itertools
import numpy as np


def conv_transpose(a, b, strides, dilations, pads, group, output_padding):
    n = a.ndim - 2
    strides, dilations = strides or (1,) * n, dilations or (1,) * n
    pads, extra = pads or (0,) * 2 * n, output_padding or (0,) * n
    inputs, outputs = a.shape[1] // group, b.shape[1]
    room = [max(0, -p) for p in pads]
    size = [(a.shape[s + 2] - 1) * strides[s] + (b.shape[s + 2] - 1) * dilations[s] + 1 + extra[s] for s in range(n)]
    y = np.zeros((a.shape[0], outputs * group, *(v + room[s] + room[s + n] for s, v in enumerate(size))),
                 np.result_type(a, b))
    for g, k in itertools.product(range(group), itertools.product(*map(range, b.shape[2:]))):
        here = slice(g * inputs, (g + 1) * inputs)
        part, weight = a[:, here], b[(here, slice(None), *k)]
        to = tuple(slice(room[s] + k[s] * dilations[s],
                         room[s] + k[s] * dilations[s] + (a.shape[s + 2] - 1) * strides[s] + 1, strides[s])
                   for s in range(n))
        y[(slice(None), slice(g * outputs, (g + 1) * outputs), *to)] += np.moveaxis(
            np.tensordot(part, weight, ([1], [0])), -1, 1)
    cut = tuple(slice(max(0, pads[s]), y.shape[s + 2] - max(0, pads[s + n])) for s in range(n))
    return y[(slice(None), slice(None), *cut)]
