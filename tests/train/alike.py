"""Two runs that computed the same on different devices: alike.py RUN OTHER SHARE. Every step's loss, gradient norm and
rate differ by less than that share of theirs, what the optimizer keeps by less than that share of its size, and weights
by that share of the way they went."""
import glob, json, math, sys
import numpy as np

run, other, share = sys.argv[1], sys.argv[2], float(sys.argv[3])
types = {"F32": "<f4", "F64": "<f8", "I64": "<i8", "I32": "<i4"}


def tensors(path):
    data = open(path, "rb").read()
    n = int.from_bytes(data[:8], "little")
    def values(dtype, data_offsets, **_):
        return np.frombuffer(data[8 + n:][slice(*data_offsets)], types[dtype]).astype(float)
    return {k: values(**v) for k, v in json.loads(data[8:8 + n]).items() if k != "__metadata__"}


def saved(folder, what, which=-1):
    return tensors(sorted(glob.glob(f"{folder}/checkpoints/step-*"))[which] + f"/{what}.safetensors")


def steps(folder):
    return [r for r in map(json.loads, open(f"{folder}/metrics.jsonl")) if "loss" in r]


ours, theirs, worst = steps(run), steps(other), 0
assert len(ours) == len(theirs) > 0, (len(ours), len(theirs))
for a, b in zip(ours, theirs):
    for key in ("loss", "grad_norm", "lr"):
        if a[key] is None or b[key] is None:  # a step that overflowed
            assert a[key] == b[key], (key, a, b)
            continue
        off = abs(a[key] - b[key]) / max(abs(a[key]), 1e-30)
        worst = max(worst, off)
        assert off <= share, (key, a["step"], a[key], b[key])
finite = [r["loss"] for r in ours if r["loss"] is not None]
assert len(set(finite)) > 1, "every step has the same loss: nothing is compared"

for what in ("weights", "optimizer"):
    one, two, begin = saved(run, what), saved(other, what), saved(run, what, 0)
    assert one.keys() == two.keys() and one, what
    size = lambda t: math.sqrt(sum((v ** 2).sum() for v in t.values()))
    way = size({k: one[k] - begin[k] for k in one}) if what == "weights" else size(one)
    apart = size({k: one[k] - two[k] for k in one})
    assert way > 0 or what == "optimizer", "no weight moved"
    assert apart <= share * way, (what, apart, way)
    worst = max(worst, apart / way if way else 0)
print(f"{other}: off by {worst:.1e} at most")
