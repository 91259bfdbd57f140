"""Random small graphs with extents that a run says: python3 extents_random.py TESSERA WORK SEED COUNT TARGET...
One plan for the ranges gives, at every length, what onnx's own evaluator gives; or it is refused. Needs onnx.
REASONS=1 prints why. Graphs that went wrong stay in WORK."""
import collections
import os
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

tessera, work, seed, count, *targets = sys.argv[1:]
OPSET = helper.make_opsetid("", 17)
# the range of n, that of m; every length is tried, or many pairs of them
SPANS = [("1..9", None), ("2..9", None), ("4..16/4", None), ("4..9", None), ("5..14", None), ("1..6", "1..5"),
         ("2..6", "3..7")]


def lengths(span):
    """All within "4..16/4", from the bound down."""
    ends, _, step = span.partition("/")
    low, high = (int(i) for i in ends.split(".."))
    return range(high, low - 1, -int(step or 1))


def sizes(rng, n, m):
    if not m:
        return [(i,) for i in lengths(n)]
    pairs = [(i, j) for i in lengths(n) for j in lengths(m)]
    ends = [p for p in pairs if p[0] in (lengths(n)[0], lengths(n)[-1]) and p[1] in (lengths(m)[0], lengths(m)[-1])]
    return ends + [pairs[i] for i in rng.choice(len(pairs), 6, replace=False) if pairs[i] not in ends]


class Graph:
    """Nodes, and the values of all names at each of the lengths."""

    def __init__(self, rng, at):
        self.rng, self.at, self.nodes, self.weights, self.made = rng, at, [], [], 0
        self.inputs = {"x": ("n", 4)}
        if len(at[0]) > 1:
            self.inputs |= {"y": ("m", 3), "z": (2, "m", "n")} if rng.random() < 0.5 else {"y": ("m", 4)}
        self.value = {}
        for name, shape in self.inputs.items():
            for k, size in enumerate(at):
                own = [dict(zip("nm", size)).get(d, d) for d in shape]
                self.value.setdefault(name, []).append(rng.integers(-8, 9, own).astype(np.float32) / 4)
        self.wholes, self.reals = [], list(self.inputs)

    def constant(self, v, dtype=np.int64):
        self.made += 1
        name = f"k{self.made}"
        v = np.array(v, dtype)
        self.weights.append(numpy_helper.from_array(v, name))
        self.value[name] = [v] * len(self.at)
        return name

    def add(self, op, ins, outs=1, **attributes):
        """The name of the result, or None where the evaluator does not take it at every length."""
        self.made += 1
        names = [f"v{self.made}_{i}" for i in range(outs)]
        node = helper.make_node(op, ins, names, **attributes)
        got = []
        for k in range(len(self.at)):
            given = {i: self.value[i][k] for i in ins if i}
            ports = [helper.make_tensor_value_info(i, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
                     for i, v in given.items()]
            graph = helper.make_graph([node], "one", ports,
                                      [helper.make_tensor_value_info(o, TensorProto.UNDEFINED, None) for o in names])
            try:
                with np.errstate(all="ignore"):
                    got.append(ReferenceEvaluator(helper.make_model(graph, opset_imports=[OPSET])).run(None, given))
            except Exception:  # noqa: BLE001 - what is wrong with a candidate does not matter
                return None
            if any(not isinstance(v, np.ndarray) and not np.isscalar(v) or np.size(v) == 0 or np.size(v) > 4000 or
                   np.ndim(v) > 4 or np.abs(np.asarray(v, np.float64)).max() > 1e4 for v in got[-1]):
                return None
        for i, name in enumerate(names):
            self.value[name] = [np.asarray(v[i]) for v in got]
            if len({(v.ndim, v.dtype) for v in self.value[name]}) > 1:
                return None
        self.nodes.append(node)
        for name in names:
            v = self.value[name][0]
            if v.dtype == np.float32:
                self.reals.append(name)
            elif v.dtype == np.int64 and v.ndim < 2:
                self.wholes.append(name)
        return names[0]

    # ---- what is drawn ----
    def pick(self, names, rank=None):
        of = [n for n in names if rank is None or self.value[n][0].ndim in rank]
        return of[-1 - int(self.rng.exponential(2)) % len(of)] if of else None

    def number(self):
        return self.constant([int(self.rng.choice([0, 1, 1, 2, 3, 4, 5, -1, -2]))])

    def length(self):
        """A whole number, [1]: one that follows the lengths, or a constant."""
        name = self.pick(self.wholes, (0, 1))
        if name is None or self.rng.random() < 0.3:
            return self.number()
        if self.value[name][0].ndim == 0:
            return self.add("Unsqueeze", [name, self.constant([0])])
        if self.value[name][0].shape != (1,):
            return self.add("Gather", [name, self.constant([int(self.rng.integers(-1, 1))])])
        return name

    def step(self):
        r = self.rng
        x = self.pick(self.reals)
        rank = self.value[x][0].ndim
        axis = int(r.integers(0, rank)) if rank else 0
        kind = r.integers(0, 37)
        if kind < 3:
            return self.add("Shape", [x], **({} if r.random() < 0.3 or not rank else {"start": axis, "end": axis + 1}))
        if kind < 7:
            op = str(r.choice(["Add", "Sub", "Mul", "Div", "Min", "Max", "Mod"]))
            return self.add(op, [self.length(), self.length()])
        if kind == 7:
            return self.add("Concat", [self.length(), self.length()], axis=0)
        if kind == 8:
            return self.add("Size", [x])
        if kind == 9:
            q = [self.constant(0), self.add("Squeeze", [self.length()]), self.constant(int(r.choice([1, 1, 1, 2])))]
            return q[1] and self.add("Range", q)
        if kind == 10:
            w = self.pick(self.wholes)
            return w and self.add("Cast", [w], to=TensorProto.FLOAT)
        if kind == 11 and self.wholes:
            w = self.pick(self.wholes)
            return self.add("Mul", [x, self.add("Cast", [w], to=TensorProto.FLOAT) or x])
        if kind == 12:
            shape = self.add("Concat", [self.length(), self.length()], axis=0)
            return shape and self.add("ConstantOfShape", [shape], value=helper.make_tensor("v", 1, [1], [1.5]))
        if kind == 13:
            shape = self.add("Concat", [self.length(), self.length()], axis=0)
            return shape and self.add("Expand", [x, shape])
        if not rank:
            return None
        if kind < 18:
            ends = [self.length(), self.length() if r.random() < 0.6 else self.constant([1 << 40])]
            ends = [self.constant([0])] + ends[:1] if r.random() < 0.5 else ends
            step = self.constant([int(r.choice([1, 1, 1, 1, 2, 3, -1, -2]))])
            return self.add("Slice", [x, *ends, self.constant([axis]), step])
        if kind == 18:
            return self.add("Transpose", [x], perm=[int(i) for i in r.permutation(rank)])
        if kind == 19:
            other = self.pick(self.reals, (rank,))
            return self.add("Concat", [x, other], axis=axis)
        if kind == 20:
            pads = [0] * (2 * rank)
            pads[axis], pads[rank + axis] = (int(i) for i in r.integers(-1, 3, 2))
            mode = str(r.choice(["constant", "constant", "reflect", "edge"]))
            return self.add("Pad", [x, self.constant(pads)], mode=mode)
        if kind == 21:
            shape = [-1] if rank == 1 or r.random() < 0.3 else [int(i) for i in r.choice([0, -1, 1, 2, 4], rank)]
            return self.add("Reshape", [x, self.constant(shape)])
        if kind == 22:
            shape = self.add("Concat", [self.length(), self.constant([-1])], axis=0)
            return shape and self.add("Reshape", [x, shape])
        if kind == 23:
            return self.add(str(r.choice(["ReduceMean", "ReduceMax", "ReduceMin"])), [x], axes=[axis],
                            keepdims=int(r.integers(0, 2)))
        if kind == 24:
            return self.add("Softmax", [x], axis=axis)
        if kind == 25:
            other = self.pick(self.reals)
            return self.add(str(r.choice(["Add", "Mul", "Sub", "Max"])), [x, other])
        if kind == 26:
            other = self.pick(self.reals, (2, 3))
            return other and self.add("MatMul", [x, other])
        if kind == 27:
            w = self.pick(self.wholes)
            return w and self.add("Gather", [x, w if r.random() < 0.6 else self.number()], axis=axis)
        if kind == 28:
            exclusive, reverse = (int(i) for i in r.integers(0, 2, 2))
            return self.add("CumSum", [x, self.constant(axis)], exclusive=exclusive, reverse=reverse)
        if kind == 29:
            times = [1] * rank
            times[axis] = 2
            return self.add("Tile", [x, self.constant(times)])
        if kind == 30:
            return self.add("Squeeze", [x]) if r.random() < 0.3 else self.add("Unsqueeze", [x, self.constant([axis])])
        if kind == 31:
            return rank == 2 and self.add("Trilu", [x], upper=int(r.integers(0, 2)))
        if kind == 32:
            return self.add("ArgMax", [x], axis=axis, keepdims=0)
        if kind == 33:
            return self.stride(x, axis)
        return self.resize(x, axis) if kind == 34 else self.windows(x)

    def stride(self, x, axis):
        """All of an axis, in steps of either sign."""
        step = int(self.rng.choice([2, 2, 3, -2, -3]))
        ends = ([0], [1 << 40]) if step > 0 else ([-1], [-(1 << 40)])
        return self.add("Slice", [x, *(self.constant(e) for e in ends), self.constant([axis]), self.constant([step])])

    def resize(self, x, axis):
        scales = [1.0] * self.value[x][0].ndim
        scales[axis] = float(self.rng.choice([0.5, 0.5, 1.5, 2]))
        how = [dict(mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
               dict(mode="linear"), dict(mode="nearest")][int(self.rng.integers(0, 3))]
        return self.add("Resize", [x, "", self.constant(scales, np.float32)], **how)

    def windows(self, x):
        """A convolution or a pool along all axes but the first two, of an image or a row."""
        r = self.rng
        while x and self.value[x][0].ndim < 3:
            x = self.add("Unsqueeze", [x, self.constant([0])])
        if not x or self.value[x][0].ndim > 4:
            return None
        n = self.value[x][0].ndim - 2
        kernel, strides = ([int(i) for i in r.integers(1, 4, n)] for _ in range(2))
        half = [int(r.integers(0, (k + 1) // 2 + (k > 2))) for k in kernel]
        more = dict(strides=strides, pads=half + [int(r.integers(0, h + 1)) if r.random() < 0.3 else h for h in half])
        if r.random() < 0.4:
            return self.add("MaxPool", [x], kernel_shape=kernel, **more)
        channels = {v.shape[1] for v in self.value[x]}
        w = self.constant(r.integers(-4, 5, [2, min(channels), *kernel]) / 4, np.float32)
        return len(channels) == 1 and self.add("Conv", [x, w], **more)

    def model(self):
        last = [n for node in self.nodes for n in node.output]
        used = {i for node in self.nodes for i in node.input}
        outs = [n for n in last if n not in used][-4:] or last[-1:]
        ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in self.inputs.items()]
        results = [helper.make_tensor_value_info(o, helper.np_dtype_to_tensor_dtype(self.value[o][0].dtype), None)
                   for o in outs]
        graph = helper.make_graph(self.nodes, "random", ports, results, self.weights)
        return helper.make_model(graph, opset_imports=[OPSET], ir_version=8), outs


def run(path, out, given, *words):
    done = subprocess.run([tessera, "run", path, "-q", *given, "-o", out, *words], capture_output=True, text=True)
    return done.returncode, done.stderr


def apart(a, b):
    if a.shape != b.shape or a.dtype != b.dtype:
        return f"{a.dtype}{list(a.shape)}, not {b.dtype}{list(b.shape)}"
    far = np.abs(a.astype(np.float64) - b).max(initial=0) / max(1, np.abs(a.astype(np.float64)).max(initial=0))
    return "" if far < 1e-5 else f"{far:.3g} apart"


def check(number, refused):
    """A sentence of what is wrong, or nothing."""
    rng = np.random.default_rng([int(seed), number])
    n, m = SPANS[int(rng.integers(0, len(SPANS)))]
    at = sizes(rng, n, m)
    g = Graph(rng, at)
    most = int(rng.integers(3, 12))
    while len(g.nodes) < most:
        g.step()
    proto, outs = g.model()
    path = f"{work}/{number}.onnx"
    onnx.save(proto, path)
    ranges = ["--dim", f"n={n}"] + (["--dim", f"m={m}"] if m else [])
    for k, size in enumerate(at):
        given = []
        for name in g.inputs:
            np.save(f"{work}/{name}.npy", g.value[name][k])
            given += ["--in", f"{name}={work}/{name}.npy"]
        for target in targets:
            code, said = run(path, f"{work}/out", given, *ranges, "--target", target)
            if code:
                refused[said.splitlines()[0] if said else f"status {code}"] += 1
                if code != 4 or "cannot vary" not in said:
                    return f"{path} {size} {target}: status {code}, {said}"
                return ""
            for o in outs:
                far = apart(g.value[o][k], np.load(f"{work}/out/{o}.npy"))
                if far:
                    return f"{path} {size} {target} {' '.join(ranges)}: {o} is {far}"
    os.remove(path)
    refused["taken"] += 1
    return ""


refused, wrong = collections.Counter(), 0
for i in range(int(count)):
    said = check(i, refused)
    wrong += said != ""
    if said:
        print(said, flush=True)
print(f"{refused.pop('taken', 0)} of {count} graphs taken, the others refused")
if os.environ.get("REASONS"):
    for why, times in refused.most_common(60):
        print(times, why)
sys.exit(wrong > 0)
