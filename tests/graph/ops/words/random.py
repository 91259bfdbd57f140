"""splitmix64, number by number."""
import math
import numpy as np


def random_unit(shape, stream, bits):
    def draw(i):
        x = (stream * 0x9E3779B97F4A7C15 + 0x9E3779B97F4A7C15 + i) % 2**64
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
        return ((x ^ x >> 31) >> (64 - bits)) / 2**bits
    return np.array([draw(i) for i in range(math.prod(shape))], np.float64).reshape(shape)
