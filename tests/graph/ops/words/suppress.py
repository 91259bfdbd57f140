"""Selection of boxes, one after the other."""
import numpy as np


def suppress(a, b, c, d, most, centred):
    def corners(v):
        p, q = v[:2].astype(np.float64), v[2:].astype(np.float64)
        return (p - q / 2, p + q / 2) if centred else (np.minimum(p, q), np.maximum(p, q))

    def overlap(s, t):
        sides = np.maximum(np.minimum(s[1], t[1]) - np.maximum(s[0], t[0]), 0)
        inner = sides.prod()
        union = (s[1] - s[0]).prod() + (t[1] - t[0]).prod() - inner
        return inner / union if inner > 0 and union > 0 else 0

    y = np.full((*b.shape[:2], most), -1)
    for n, k in np.ndindex(*b.shape[:2]):
        chosen = []
        for i in c[n, k]:
            box = corners(a[n, i])
            if len(chosen) < most and b[n, k, i] >= d[1] and all(overlap(box, corners(a[n, j])) <= d[0] for j in chosen):
                chosen.append(i)
        y[n, k, :len(chosen)] = chosen
    return y
