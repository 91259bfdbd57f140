"""Places of maxima, window by window."""
import itertools
import numpy as np


def pool_places(a, b, kernel, strides, dilations, pads, ceil_mode, columns):
    n = a.ndim - 2
    strides, dilations, pads = strides or (1,) * n, dilations or (1,) * n, pads or (0,) * 2 * n
    y = np.full(b.shape, np.iinfo(np.int64).max)
    turned = (*a.shape[:2], *a.shape[:1:-1])
    for index in itertools.product(*map(range, b.shape)):
        for k in itertools.product(*map(range, kernel)):
            at = [o * s - p + i * d for o, s, p, i, d in zip(index[2:], strides, pads, k, dilations)]
            if all(0 <= v < m for v, m in zip(at, a.shape[2:])) and a[(*index[:2], *at)] == b[index]:
                y[index] = min(y[index], np.ravel_multi_index((*index[:2], *at), a.shape))
    if columns:
        first = np.unravel_index(y, a.shape)
        y = np.ravel_multi_index((*first[:2], *first[:1:-1]), turned)
    return y
