"""Operations against numpy. Each case of each record of the operation table is computed by Tessera's interpreter and by
the record's numpy expression, on the same inputs, and compared in dtype, shape and values. A new operation is tested by
existing.

A case is a line "f32[2,3] i64[4]<5 axis=1": operands, then attributes. What may follow an operand's bracket:
  !     with NaN, infinities, zeros of both signs, halves (integers: the extremes)
  +     positive
  <5    integers from -5 (or 0, if unsigned) to 4
  =0.5  this value everywhere, known while the graph is built"""
import glob, json, math, os, re, runpy, subprocess, sys, tempfile, warnings, zlib
import numpy as np

warnings.simplefilter("ignore")
if np.__version__ < "2":
    np._set_promotion_state("weak")  # as numpy 2 does: Python numbers take the dtype of arrays

dtypes = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "bool": np.bool_,
          "i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8,
          "u64": np.uint64, "u32": np.uint32, "u16": np.uint16, "u8": np.uint8}
tolerance = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-6, np.dtype(np.float16): 2e-3}
OPERAND = re.compile(r"(\w+)\[([\d,]*)\](!|\+|<\d+|=\S+)?$")


# ---- the words that oracles use beside numpy's own ----
def erf(a):
    kind = np.result_type(a, np.float16) if np.asarray(a).dtype.kind == "f" else np.float64
    return np.vectorize(math.erf, otypes=[kind])(a)


def pad(a, pads, mode, value):
    pairs = list(zip(pads[:a.ndim], pads[a.ndim:]))
    a = a[tuple(slice(max(0, -b), n - max(0, -e)) for n, (b, e) in zip(a.shape, pairs))]
    pairs = [(max(0, b), max(0, e)) for b, e in pairs]
    return np.pad(a, pairs, **({"constant_values": value} if mode == "constant" else {"mode": mode})) if pairs else a


def windows(a, kernel, strides, dilations, pads, ceil_mode, fill):
    """[batch, channel, place..., point...]"""
    n = a.ndim - 2
    strides, dilations, pads = strides or (1,) * n, dilations or (1,) * n, pads or (0,) * 2 * n
    if a.dtype.kind != "f" and np.isinf(fill):
        fill = np.iinfo(a.dtype).min
    reach, count, sides = [], [], [(0, 0), (0, 0)]
    for s in range(n):
        padded, r = a.shape[s + 2] + pads[s] + pads[s + n], (kernel[s] - 1) * dilations[s] + 1
        c = (math.ceil if ceil_mode else math.floor)((padded - r) / strides[s]) + 1
        if ceil_mode and (c - 1) * strides[s] >= a.shape[s + 2] + pads[s]:
            c -= 1
        reach.append(r), count.append(c)
        sides.append((pads[s], pads[s + n] + max(0, (c - 1) * strides[s] + r - padded)))
    padded = np.pad(a, sides, constant_values=fill)
    w = np.lib.stride_tricks.sliding_window_view(padded, reach, tuple(range(2, a.ndim)))
    w = w[(slice(None),) * 2 + tuple(slice(None, None, step) for step in (*strides, *dilations))]
    return w[(slice(None),) * 2 + tuple(slice(c) for c in count)]


def average_pool(a, kernel, strides, dilations, pads, ceil_mode, count_include_pad):
    n, ones, left = a.ndim - 2, np.ones_like(a), pads
    if count_include_pad and pads:
        ones, left = np.pad(ones, [(0, 0), (0, 0), *zip(pads[:n], pads[n:])], constant_values=1), None
    points = tuple(range(a.ndim, 2 * a.ndim - 2))
    total = windows(a, kernel, strides, dilations, pads, ceil_mode, 0).sum(axis=points)
    shape = total.shape
    real = windows(ones, kernel, strides, dilations, left, ceil_mode, 0).sum(axis=points)
    return total / real[tuple(slice(k) for k in shape)]


def conv(a, b, strides, dilations, pads, group):
    w = windows(a, b.shape[2:], strides, dilations, pads, False, 0)
    n, inputs, outputs = a.ndim - 2, b.shape[1], b.shape[0] // group
    axes = ([1, *range(2 + n, 2 + 2 * n)], [1, *range(2, 2 + n)])
    parts = [np.tensordot(w[:, i * inputs:(i + 1) * inputs], b[i * outputs:(i + 1) * outputs], axes)
             for i in range(group)]
    return np.moveaxis(np.concatenate(parts, -1), -1, 1)


def attention(q, k, v, mask, scale, causal):
    s = q @ np.swapaxes(k, -1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    s = s if mask is None else s + mask
    if causal:
        i, j = np.arange(s.shape[-2])[:, None], np.arange(s.shape[-1])
        s = np.where(j - i <= s.shape[-1] - s.shape[-2], s, np.asarray(-np.inf).astype(s.dtype))
    z = np.exp(s - s.max(-1, keepdims=True))
    return z / z.sum(-1, keepdims=True) @ v


def scatter(a, where, updates, reduce):
    y = a.copy()
    at = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}
    if reduce == "set":
        y[where] = updates
    else:
        at[reduce].at(y, where, updates)
    return y


def order(a, axis, descending, count):
    n = a.shape[axis]
    if descending:
        places = n - 1 - np.flip(np.argsort(np.flip(a, axis), axis, kind="stable"), axis)
    else:
        places = np.argsort(a, axis, kind="stable")
    return np.take(places, np.arange(n if count < 0 else count), axis)


def far(find, a, axis, keepdims, last):
    i = find(np.flip(a, axis) if last else a, axis, keepdims=bool(keepdims))
    return a.shape[axis] - 1 - i if last else i


def cumulate(how, a, axis, exclusive, reverse):
    """With the unit before it, and without the last, where it excludes each one."""
    a = np.flip(a, axis) if reverse else a
    y = {"add": np.cumsum, "mul": np.cumprod, "max": np.maximum.accumulate, "min": np.minimum.accumulate}[how](a, axis)
    if exclusive:
        limits = np.finfo(y.dtype) if y.dtype.kind == "f" else np.iinfo(y.dtype)
        low, high = (-np.inf, np.inf) if y.dtype.kind == "f" else (limits.min, limits.max)
        unit = {"add": 0, "mul": 1, "max": low, "min": high}[how]
        first = np.full_like(np.take(y, [0], axis), unit)
        y = np.concatenate([first, np.take(y, range(y.shape[axis] - 1), axis)], axis)
    return np.flip(y, axis) if reverse else y


def running_place(how, a, axis):
    find = {"max": np.argmax, "min": np.argmin}[how]
    return np.stack([find(np.take(a, range(i + 1), axis), axis) for i in range(a.shape[axis])], axis)


def linear_scan(a, b, axis):
    y, total = np.empty_like(b), 0
    for i in range(b.shape[axis]):
        at = (slice(None),) * (axis % b.ndim) + (i,)
        y[at] = total = a[at] * total + b[at]
    return y


spelled = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "exp": np.exp, "abs": np.abs, "sqrt": np.sqrt,
           "select": np.where, "lt": np.less, "le": np.less_equal, "and_": np.logical_and, "max": np.maximum,
           "mod": np.mod, "at": lambda i, n: i, **dtypes}
folded = {"add": np.sum, "mul": np.prod, "max": np.max}


def said(text, names):
    return eval(text.replace("and(", "and_("), {**spelled, **names})


def formula(text, x):
    return said(text, dict(zip("abcdefgh", x)))


def element(text, x, dims, folds, fold):
    """An element outside, which no condition lets through, reads as the nearest one."""
    class Near:
        def __init__(self, a):
            self.a = a

        def __getitem__(self, at):
            at = at if isinstance(at, tuple) else (at,)
            return self.a[tuple(np.clip(i, 0, n - 1) for i, n in zip(at, self.a.shape))]
    grid = np.indices(dims + folds)
    y = said(text, {**dict(zip("abcdefgh", map(Near, x))), **{f"i{k}": g for k, g in enumerate(grid)}})
    return folded[fold](y, tuple(range(len(dims), len(grid)))) if folds else y


words = {"np": np, "dtypes": dtypes, "erf": erf, "pad": pad, "windows": windows, "average_pool": average_pool,
         "scatter": scatter, "order": order, "running_place": running_place, "linear_scan": linear_scan,
         "cumulate": cumulate, "far": far, "formula": formula, "element": element, "conv": conv,
         "worth": said, "attention": attention}
for path in sorted(glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), "words", "*.py"))):
    words.update({k: v for k, v in runpy.run_path(path).items() if callable(v)})  # one file for each family


# ---- cases ----
def random_array(rng, name, shape, how):
    d = np.dtype(dtypes[name])
    if how.startswith("="):
        return np.full(shape, float(how[1:])).astype(d)
    if d.kind == "b":
        return rng.integers(0, 2, shape).astype(d)
    if d.kind in "iu":
        below = int(how[1:]) if how.startswith("<") else 9
        a = rng.integers(0 if d.kind == "u" else -below, below, shape).astype(d)
        special = [np.iinfo(d).min, np.iinfo(d).max, 0, 1]
    else:
        a = np.asarray(rng.uniform(-3, 3, shape)).astype(d)
        special = [np.nan, np.inf, -np.inf, 0.0, -0.0, 0.5, 1.5, 2.5, -0.5, 1e-20, 80.0, -80.0]
    if how == "+":
        a = np.abs(a) + np.asarray(0.1).astype(d)
    if how == "!":
        for i, value in zip(rng.permutation(a.size), special):
            a.flat[i] = value
    return a


def attribute(kind, text):
    numbers = {"I": int, "F": float}
    if kind in numbers:
        return tuple(numbers[kind](v) for v in text.strip("[]").split(",") if v)
    return {"i": int, "f": float, "s": str}[kind](text)


class Case:
    def __init__(self, op, line):
        words = line.split()
        self.op, self.line, self.inputs, self.known = op, line, [], []
        rng = np.random.default_rng(zlib.crc32(f"{op['name']} {line}".encode()))
        while words and (m := OPERAND.match(words[0])):
            shape = tuple(int(v) for v in m[2].split(",") if v)
            self.inputs.append(random_array(rng, m[1], shape, m[3] or ""))
            self.known.append((m[3] or "").startswith("="))
            words.pop(0)
        given = dict(w.split("=", 1) for w in words)
        self.call = " ".join([op["name"], *words])
        self.attributes = {}
        for a in op["attributes"]:
            text = given.get(a["name"], a["default"])
            self.attributes[a["name"]] = attribute(a["kind"], text) if text else None

    def oracle(self, inputs):
        names = {**words, "x": inputs, **dict.fromkeys("abcd"), **dict(zip("abcd", inputs)), **self.attributes}
        return np.asarray(eval(self.op["numpy"], names))

    def wrong(self, got):
        want = self.oracle(self.inputs)
        if got.dtype != want.dtype:
            return f"dtype {got.dtype}, numpy's {want.dtype}"
        if got.shape != want.shape:
            return f"shape {got.shape}, numpy's {want.shape}"
        if want.dtype.kind != "f":
            return "" if np.array_equal(got, want) else self.difference(got, want, got != want)
        # Either close to numpy's value, or to what it gives in f64: its own f32 sums and roots are rounded too.
        wide = [v.astype(np.float64) if v.dtype.kind == "f" else v for v in self.inputs]
        exact = self.oracle(wide).astype(np.float64)
        rtol = tolerance[want.dtype]
        # Sums may cancel: their error is measured against the largest element; that of a formula against its own.
        sums = self.op["kind"] != "text"
        atol = rtol * float(np.abs(exact[np.isfinite(exact)]).max(initial=0)) if sums else 0
        near = np.isclose(got.astype(np.float64), exact, rtol, atol, equal_nan=True)
        good = near | np.isclose(got, want, rtol, 0, equal_nan=True)
        return "" if good.all() else self.difference(got, want, ~good)

    @staticmethod
    def difference(got, want, bad):
        i = tuple(int(v) for v in np.argwhere(bad)[0])
        count = f"{np.count_nonzero(bad)} of {got.size} differ"
        return f"{count}, first at {list(i)}: {got[i]!r}, numpy's {want[i]!r}"


def main(program, folder):
    table = json.loads(subprocess.check_output([program, "table"], text=True))["ops"]
    cases, lines = [], []
    for op in table:
        for line in op["cases"]:
            case = Case(op, line)
            paths = [os.path.join(folder, f"{len(cases)}-{i}.npy") for i in range(len(case.inputs))]
            for path, value in zip(paths, case.inputs):
                np.save(path, value)
            marked = ["=" * k + p for k, p in zip(case.known, paths)]
            lines.append(f"{case.call} | {' '.join(marked)} | {os.path.join(folder, str(len(cases)))}.npy\n")
            cases.append(case)
    done = subprocess.run([program, "eval"], input="".join(lines), stdout=subprocess.PIPE, check=True, text=True)
    failed = 0
    for i, (case, answer) in enumerate(zip(cases, done.stdout.splitlines(), strict=True)):
        reason = answer if answer != "ok" else case.wrong(np.load(os.path.join(folder, f"{i}.npy")))
        if reason:
            failed += 1
            print(f"{case.op['name']}: {case.line}: {reason}")
    print(f"{len(table)} operations, {len(cases)} cases, {failed} failed")
    return failed > 0 or not cases


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(main(sys.argv[1], folder))
