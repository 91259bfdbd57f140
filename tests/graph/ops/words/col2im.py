"""Blocks laid back one by one."""
import itertools, math
import numpy as np


def col2im(a, image, block, strides, dilations, pads):
    n = len(image)
    strides, dilations, pads = strides or (1,) * n, dilations or (1,) * n, pads or (0,) * 2 * n
    full = [v + pads[s] + pads[s + n] for s, v in enumerate(image)]
    count = [(full[s] - (block[s] - 1) * dilations[s] - 1) // strides[s] + 1 for s in range(n)]
    x = a.reshape(a.shape[0], a.shape[1] // math.prod(block), *block, *count)
    y = np.zeros((*x.shape[:2], *full), a.dtype)
    for k in itertools.product(*map(range, block)):
        at = tuple(slice(k[s] * dilations[s], k[s] * dilations[s] + (count[s] - 1) * strides[s] + 1, strides[s])
                   for s in range(n))
        y[(slice(None), slice(None), *at)] += x[(slice(None), slice(None), *k)]
    return y[(slice(None), slice(None), *(slice(pads[s], pads[s] + v) for s, v in enumerate(image)))]
