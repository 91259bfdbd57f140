"""Folds of several values, point by point: every state is computed from what all of them were."""
import numpy as np


def parts(text):
    out, depth = [""], 0
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == "," and not depth:
            out.append("")
        else:
            out[-1] += c
    return out


def several(worth, x, dims, folds, start, step, text):
    of = x[0].dtype.type
    y = np.empty(dims, object)
    for at in np.ndindex(*dims):
        names = {**dict(zip("abcdefgh", x)), **{f"i{k}": np.int64(i) for k, i in enumerate(at)}}
        state = [worth(s, {**names, "inf": np.inf}) for s in parts(start)]
        dtype = [of if isinstance(s, (int, float)) and not isinstance(s, np.generic) else type(s) for s in state]
        state = [d(s) for d, s in zip(dtype, state)]
        for point in np.ndindex(*folds):
            now = {**names, **{f"i{len(at) + k}": np.int64(i) for k, i in enumerate(point)},
                   **{f"s{k}": s for k, s in enumerate(state)}}
            state = [d(worth(s, now)) for d, s in zip(dtype, parts(step))]
        y[at] = worth(text, {**names, **{f"s{k}": s for k, s in enumerate(state)}})
    return np.array(y.tolist()).astype(type(y.flat[0])).reshape(dims)
