"""An axis in blocks, and a mean whose sums come block by block."""
import numpy as np


def in_blocks(a, axis, size, once):
    a = np.moveaxis(a, axis, 0)
    blocks = []
    for first in range(0, len(a), size):
        start = min(first, len(a) - size)
        block = a[start:start + size].copy()
        if once is not None:
            block[:first - start] = once
        blocks.append(np.moveaxis(block, 0, axis))
    return np.stack(blocks, axis if axis >= 0 else axis - 1)


def block_mean(a, b, c, empty):
    wide = np.float64 if a.dtype == np.float64 else np.float32
    weight, total = np.zeros(a.shape[:-1], wide), np.zeros(c.shape[:-2] + c.shape[-1:], wide)
    for i in range(a.shape[-1]):
        weight = a[..., i] * weight + b[..., i]
        total = a[..., i, None] * total + c[..., i, :]
    weight = weight[..., None]
    if empty == 1:
        weight = np.where(weight == 0, 1, weight)
    y = total / weight
    return (np.where(weight > 0, y, 0) if empty == 2 else y).astype(c.dtype)
