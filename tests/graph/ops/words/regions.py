"""Places of an affine grid by a matrix product, and bins of boxes point by point."""
import itertools, math
import numpy as np


def affine_grid(a, size, align_corners):
    line = [np.linspace(-1, 1, n) if align_corners else (2 * np.arange(n) + 1) / n - 1 for n in size]
    grid = np.stack([*np.meshgrid(*line, indexing="ij")[::-1], np.ones(size)], -1)
    return np.einsum("nij,...j->n...i", a.astype(np.float64), grid).astype(a.dtype)


def roi_align(a, b, c, bins, points, scale, half_pixel, mode):
    height, width = a.shape[2:]
    y = np.zeros((len(b), a.shape[1], *bins), a.dtype)
    for r, i, j in np.ndindex(len(b), *bins):
        x1, y1, x2, y2 = b[r] * scale - (0.5 if half_pixel else 0)
        extent = [y2 - y1, x2 - x1] if half_pixel else [max(y2 - y1, 1), max(x2 - x1, 1)]
        step = [v / n for v, n in zip(extent, bins)]
        count = [points or math.ceil(v) for v in step]
        found = []
        for p, q in itertools.product(*map(range, count)):
            v, h = y1 + (i + (p + 0.5) / count[0]) * step[0], x1 + (j + (q + 0.5) / count[1]) * step[1]
            if not (-1 <= v <= height and -1 <= h <= width):
                found.append([np.zeros(a.shape[1])] * 4)
                continue
            v, h = min(max(v, 0), height - 1), min(max(h, 0), width - 1)
            near = [(int(v), int(v) + 1 - v), (min(int(v) + 1, height - 1), v - int(v))]
            side = [(int(h), int(h) + 1 - h), (min(int(h) + 1, width - 1), h - int(h))]
            found.append([w * s * a[c[r], :, k, m] for k, w in near for m, s in side])
        if mode == "avg":
            y[r, :, i, j] = sum(map(sum, found)) / max(1, count[0] * count[1]) if found else 0
        else:
            y[r, :, i, j] = np.max(found, axis=(0, 1)) if found else -np.inf
    return y
