"""Threefry-2x32 of 20 rounds, from the paper (Salmon, Moraes, Dror, Shaw 2011): what graph/base/random.h promises."""
import numpy as np

TURNS = [13, 15, 26, 6, 17, 29, 16, 24]


def bits(seed, index):
    """Of one seed, at each place of an array: the key's and the counter's lower words come first, and the result's."""
    index = np.asarray(index, np.uint64)
    key = [np.uint32(seed & 0xFFFFFFFF), np.uint32(seed >> 32 & 0xFFFFFFFF)]
    key.append(key[0] ^ key[1] ^ np.uint32(0x1BD11BDA))
    with np.errstate(over="ignore"):
        x, y = index.astype(np.uint32) + key[0], (index >> np.uint64(32)).astype(np.uint32) + key[1]
        for n in range(20):
            by = TURNS[n % 8]
            x = x + y
            y = (y << np.uint32(by) | y >> np.uint32(32 - by)) ^ x
            if n % 4 == 3:
                group = n // 4 + 1
                x, y = x + key[group % 3], y + key[(group + 1) % 3] + np.uint32(group)
    return y.astype(np.uint64) << np.uint64(32) | x
