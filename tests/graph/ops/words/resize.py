"""Resizing element by element, from the formulas of ONNX's specification: no tables, no axes taken one by one. Places
are fractions, so that one between two elements is found to be there."""
import itertools, math
from fractions import Fraction
import numpy as np


def ratio(scale, extents):
    """The ratio that a scale stands for: that of the extents, else of the least numbers that round to it."""
    real = np.float32 if float(np.float32(scale)) == scale else np.float64
    few = (Fraction(round(scale * down), down) for down in range(1, 4097))
    return next((r for r in (extents, *few) if r > 0 and float(real(float(r))) == scale), Fraction(scale))


def resize(a, sizes, scales, roi, mode, coordinates, nearest, cubic, exclude, antialias, extrapolation):
    ratios = [Fraction(o, i or 1) for o, i in zip(sizes, a.shape)]
    scales = [ratio(s, r) for s, r in zip(scales, ratios)] if scales else ratios
    roi = [Fraction(r) for r in roi] if roi else (0,) * a.ndim + (1,) * a.ndim
    half = Fraction(1, 2)

    def original(axis, i):
        n, out, scale = a.shape[axis], sizes[axis], scales[axis]
        start, end, wide = roi[axis], roi[axis + a.ndim], scale * n
        length = out if mode == "nearest" else wide
        return {
            "half_pixel": lambda: (i + half) / scale - half,
            "align_corners": lambda: i * (n - 1) / (length - 1) if length != 1 else 0,
            "asymmetric": lambda: i / scale,
            "tf_half_pixel_for_nn": lambda: (i + half) / scale,
            "pytorch_half_pixel": lambda: (i + half) / scale - half if out > 1 else 0,
            "half_pixel_symmetric": lambda: n * half * (1 - out / wide) + (i + half) / scale - half,
            "tf_crop_and_resize": lambda: (start * (n - 1) + i * (end - start) * (n - 1) / (length - 1)
                                           if length != 1 else half * (start + end) * (n - 1))}[coordinates]()

    def weight(x):
        x = abs(x)
        if mode == "linear":
            return max(0, 1 - x)
        if x <= 1:
            return (cubic + 2) * x**3 - (cubic + 3) * x**2 + 1
        return cubic * x**3 - 5 * cubic * x**2 + 8 * cubic * x - 4 * cubic if x < 2 else 0

    def neighbours(axis, x):
        n, pace = a.shape[axis], min(1, scales[axis]) if antialias else 1
        if mode == "nearest":
            at = {"floor": math.floor(x), "ceil": math.ceil(x), "round_prefer_floor": math.ceil(x - half),
                  "round_prefer_ceil": math.floor(x + half),
                  "floor_up": math.ceil(x) if scales[axis] < 1 else math.floor(x)}[nearest]
            return [(min(max(at, 0), n - 1), 1)]
        far = math.ceil(2 / pace) + 1
        found = [(at, weight(float((at - x) * pace))) for at in range(math.floor(x) - far, math.floor(x) + far + 1)]
        found = [(at, w) for at, w in found if not exclude or 0 <= at < n]
        total = sum(w for _, w in found) if exclude or antialias else 1
        return [(min(max(at, 0), n - 1), w / total) for at, w in found if w]

    y = np.zeros(sizes, np.float64)
    for index in itertools.product(*map(range, sizes)):
        places = [original(axis, i) if (sizes[axis], scales[axis]) != (a.shape[axis], 1) or coordinates[:2] == "tf"
                  else i for axis, i in enumerate(index)]
        if coordinates == "tf_crop_and_resize" and any(not 0 <= x <= n - 1 for x, n in zip(places, a.shape)):
            y[index] = extrapolation
            continue
        for taps in itertools.product(*(neighbours(axis, x) for axis, x in enumerate(places))):
            y[index] += a[tuple(at for at, _ in taps)] * math.prod(w for _, w in taps)
    return y.astype(a.dtype)
