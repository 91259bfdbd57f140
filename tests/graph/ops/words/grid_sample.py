"""Sampling on a grid, place by place, from the formulas of ONNX's specification."""
import itertools, math
import numpy as np


def grid_sample(a, b, mode, padding, align_corners):
    def reflect(x, low, high):
        while high > low and not low <= x <= high:
            x = 2 * low - x if x < low else 2 * high - x
        return x if high > low else low

    def bounds(n):
        return (0, n - 1) if align_corners else (-0.5, n - 0.5)

    def moved(x, n):
        return {"zeros": x, "border": min(max(x, 0), n - 1), "reflection": reflect(x, *bounds(n))}[padding]

    def weights(r):
        t = [abs(k - 1 - r) for k in range(4)]
        return [(1.25 * v - 2.25) * v * v + 1 if v <= 1 else ((-0.75 * v + 3.75) * v - 6) * v + 3 for v in t]

    def taps(g, n):
        x = (g + 1) / 2 * (n - 1) if align_corners else ((g + 1) * n - 1) / 2
        if mode == "nearest":
            return [(moved(float(np.rint(x)), n), 1)]
        x = x if mode == "cubic" else moved(x, n)
        base = math.floor(x)
        r = x - base
        return list(zip((base, base + 1), (1 - r, r))) if mode == "linear" else list(
            zip(range(base - 1, base + 3), weights(r)))

    space = a.shape[2:]
    y = np.zeros(a.shape[:2] + b.shape[1:-1], np.float64)
    for n, *o in itertools.product(range(a.shape[0]), *map(range, b.shape[1:-1])):
        at = b[(n, *o)].astype(np.float64)[::-1]
        for chosen in itertools.product(*(taps(g, dim) for g, dim in zip(at, space))):
            place = [p for p, _ in chosen]
            if padding == "zeros" and not all(0 <= p < dim for p, dim in zip(place, space)):
                continue
            place = [int(min(max(int(reflect(p, *bounds(dim)) if padding == "reflection" else p), 0), dim - 1))
                     for p, dim in zip(place, space)]
            y[(n, slice(None), *o)] += a[(n, slice(None), *place)] * math.prod(w for _, w in chosen)
    return y.astype(a.dtype)
