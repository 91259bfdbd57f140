"""Boxes kept, one class after the other."""
import numpy as np


def nms(boxes, scores, limits, most, centred):
    boxes, scores, limits = (x.astype(np.float32) for x in (boxes, scores, limits))
    kept = np.full((*scores.shape[:2], most), -1, np.int64)
    a, b = boxes[..., :2], boxes[..., 2:]
    a, b = (a - b / 2, a + b / 2) if centred else (a, b)
    low, high = np.minimum(a, b), np.maximum(a, b)
    for i, c in np.ndindex(scores.shape[:2]):
        mine = []
        for k in np.argsort(-scores[i, c], kind="stable"):
            both = [np.prod(np.maximum(0, np.minimum(high[i, k], high[i, j]) - np.maximum(low[i, k], low[i, j])))
                    for j in mine]
            area = np.prod(high[i] - low[i], -1)
            if scores[i, c, k] > limits[1] and all(
                    s == 0 or s / (area[k] + area[j] - s) <= limits[0] for s, j in zip(both, mine)):
                mine.append(k)
        kept[i, c, :len(mine[:most])] = mine[:most]
    return kept
