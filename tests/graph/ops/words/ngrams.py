"""Counts of short sequences, one by one."""
import numpy as np


def ngrams(a, b, skips):
    skips = min(skips, a.shape[1]) if b.shape[1] > 1 else skips
    y = np.zeros((len(a), len(b)), np.float32)
    for r, row in enumerate(a):
        for i, gram in enumerate(b):
            for step in range(1, skips + 2):
                reach = (len(gram) - 1) * step
                y[r, i] += sum(np.array_equal(row[p:p + reach + 1:step], gram) for p in range(len(row) - reach))
    return y
