"""Processes that are waited for: whether one lives, and for how long something goes on."""
import time


def lives(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def awake(going, most):
    """Seconds while going(), at most so many; of a machine that was suspended, those in which this process ran."""
    took, before = 0, time.time()
    while going() and took < most:
        time.sleep(0.01)
        took, before = took + min(time.time() - before, 0.5), time.time()
    return took
