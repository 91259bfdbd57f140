"""Random numbers of a stream, as tests/threefry.py has them."""
import os
import sys
import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.."))
import threefry  # noqa: E402


def random_unit(shape, stream, bits, part=0):
    count = np.prod(shape, dtype=int)
    drawn = threefry.bits(stream, np.arange(count) + count * int(part))
    return ((drawn >> np.uint64(64 - bits)) / 2.0**bits).reshape(shape)
