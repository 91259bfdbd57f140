"""The node that each row reaches in each tree."""
import numpy as np


def tree_walk(a, b, c, d, e, depth, bits):
    y = np.empty((len(d), len(a)), e.dtype)
    for t, r in np.ndindex(y.shape):
        at = d[t]
        for _ in range(depth):
            at = (c[at] >> bits) + int(not a[r, c[at] & ((1 << bits) - 1)] <= b[at])
        y[t, r] = e[at]
    return y
