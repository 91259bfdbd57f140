"""Operators of ai.onnx.ml as graph/1, random ones, against a walk and sums in numpy: python3 classical.py TESSERA
FOLDER. Every test of a node on its own and all mixed, with and without what is missing; every aggregate,
transformation and kernel."""
import itertools
import json
import math
import subprocess
import sys

import numpy as np

TESSERA, FOLDER = sys.argv[1:]
rng = np.random.default_rng(1)
VALUES = np.array([-2, -1, -0.5, 0, 0.5, 1, 3], np.float32)
DTYPES = {np.float32: "f32", np.float64: "f64", np.float16: "f16", np.int32: "i32", np.int64: "i64", np.uint8: "u8"}
runs = bad = 0


def number(v):
    return "NaN" if math.isnan(v) else "-Infinity" if v == -math.inf else "Infinity" if v == math.inf else v


def tensor(v, dtype):
    v = np.asarray(v, dtype)
    return {"dtype": DTYPES[dtype], "shape": list(v.shape), "data": [number(x) for x in v.ravel().tolist()]}


def attribute(v):
    if isinstance(v, float):
        return {"float": number(v)} if not math.isfinite(v) else v
    if isinstance(v, np.ndarray):
        return tensor(v, v.dtype.type)
    reals = isinstance(v, list) and len(v) > 0 and isinstance(v[0], float)
    return {"floats": [number(x) for x in v]} if reals else v


def step(name, kind, ins, outs, attrs):
    return {"name": name, "op": "ai.onnx.ml." + kind, "in": ins, "out": outs,
            "attr": {k: attribute(v) for k, v in attrs.items()}}


def run(name, kind, version, x, want, tolerance=1e-5, target="interp", before=None, moved=(), **attrs):
    """before: attributes of a LabelEncoder through which the input goes first, and then through the steps `moved`"""
    global runs, bad
    outs = [f"y{i}" for i in range(len(want))]
    first = [step("b", "LabelEncoder", ["x"], ["t"], before)] if before else []
    for i, (o, a) in enumerate(moved):
        first.append({"op": o, "in": first[-1]["out"], "out": [f"t{i}"], "attr": a})
    graph = {"format": "graph/1", "opset": {"": 17, "ai.onnx.ml": version},
             "inputs": [{"name": "x", "dtype": DTYPES[x.dtype.type], "shape": list(x.shape)}],
             "outputs": [{"name": o} for o in outs],
             "nodes": [*first, step("n", kind, [first[-1]["out"][0] if first else "x"], outs, attrs)]}
    with open(f"{FOLDER}/m.json", "w") as f:
        json.dump(graph, f)
    np.save(f"{FOLDER}/x.npy", x)
    runs += 1
    said = subprocess.run([TESSERA, "run", f"{FOLDER}/m.json", "--in", f"x={FOLDER}/x.npy", "-o", f"{FOLDER}/out", "-q",
                           "--target", target], capture_output=True, text=True)
    if said.returncode:
        bad += 1
        print(f"{name}: {said.stderr}")
        return
    for o, w in zip(outs, want):
        y = np.load(f"{FOLDER}/out/{o}.npy")
        same = y.shape == w.shape and y.dtype == w.dtype
        off = np.abs(y.astype(np.float64) - w.astype(np.float64)) > tolerance * (1 + np.abs(w)) if same else 0
        if not same or off.any() or (np.isnan(y) != np.isnan(w)).any():
            bad += 1
            print(f"{name}, {o} on {target}: got {y.dtype} {y.tolist()}, wanted {w.dtype} {w.tolist()}")


# ---- scores ----
def softmax(s):
    e = np.exp(s - s.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def softmax_zero(s):
    m, zero = s.max(1, keepdims=True), np.abs(s) <= 1e-7
    e = np.where(zero, 0, np.exp(s - m))
    return np.where(zero, s * np.exp(-m), e) / e.sum(1, keepdims=True)


def logistic(s):
    return 1 / (1 + np.exp(-s))


def probit(s):
    x = 2 * s - 1
    log = np.log(1 - x * x)
    v = 2 / (math.pi * 0.147) + log / 2
    return math.sqrt(2) * np.sign(x) * np.sqrt(np.sqrt(v * v - log / 0.147) - v)


POST = {"NONE": lambda s: s, "LOGISTIC": logistic, "SOFTMAX": softmax, "SOFTMAX_ZERO": softmax_zero, "PROBIT": probit}


def transformed(s, post):
    return POST[post](s) if s.shape[1] > 1 or post == "PROBIT" else s


# ---- trees ----
MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER"]
TESTS = [lambda x, v, s: x <= v, lambda x, v, s: x < v, lambda x, v, s: x >= v, lambda x, v, s: x > v,
         lambda x, v, s: x == v, lambda x, v, s: x != v, lambda x, v, s: x in s]


def grow(depth, modes, missing, dtype, features=3):
    """A node: (mode, feature, value, set, missing, then, otherwise), or a leaf: its number."""
    if depth == 0 or rng.random() < 0.2:
        grow.leaves += 1
        return grow.leaves - 1
    mode = int(rng.choice(modes))
    value = dtype(rng.choice(np.append(VALUES, [np.inf, -np.inf]) if rng.random() < 0.2 else VALUES))
    members = [dtype(v) for v in rng.choice(VALUES, rng.integers(1, 6), replace=False)] if mode == 6 else []
    return (mode, int(rng.integers(features)), value, members, bool(missing and rng.random() < 0.5),
            grow(depth - 1, modes, missing, dtype), grow(depth - 1, modes, missing, dtype))


def walk(tree, x):
    while not isinstance(tree, int):
        mode, feature, value, members, missing, then, otherwise = tree
        v = x[feature]
        tree = then if TESTS[mode](v, value, members) or (missing and np.isnan(v)) else otherwise
    return tree


def forest(n, depth, modes, missing, dtype=np.float32):
    grow.leaves = 0
    return [grow(depth, modes, missing, dtype) for _ in range(n)]


def rows(n, missing, dtype=np.float32):
    x = rng.choice(np.append(VALUES, [-0.0, 0.25, 99, -99]), (n, 3)).astype(dtype)
    if missing:
        x[rng.random(x.shape) < 0.3] = np.nan
    return x


def as_lists(trees, of):
    """Node by node, numbers of nodes in any order."""
    a = {f"nodes_{k}": [] for k in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids",
                                    "falsenodeids", "missing_value_tracks_true")}
    leaf = {}

    def add(t, tree, count):
        at, own = len(a["nodes_treeids"]), next(count)
        test = (0, 0, 0.0, [], False) if isinstance(tree, int) else tree[:5]
        for k, v in (("treeids", t), ("nodeids", own), ("featureids", test[1]), ("values", float(test[2])),
                     ("modes", "LEAF" if isinstance(tree, int) else MODES[test[0]]), ("truenodeids", 0),
                     ("falsenodeids", 0), ("missing_value_tracks_true", int(test[4]))):
            a["nodes_" + k].append(v)
        if isinstance(tree, int):
            leaf[tree] = (t, own)
        else:
            a["nodes_truenodeids"][at], a["nodes_falsenodeids"][at] = add(t, tree[5], count), add(t, tree[6], count)
        return own

    for t, tree in enumerate(trees):
        add(t, tree, itertools.count(3, 2))
    return a, leaf


def weights_of(leaf, targets, of):
    """Each leaf weighs for these targets: lists, and [leaf, target] with NaN for none."""
    table = np.full((len(leaf), 1 + max(max(targets(i)) for i in leaf)), np.nan, np.float32)
    lists = {f"{of}_treeids": [], f"{of}_nodeids": [], f"{of}_ids": [], f"{of}_weights": []}
    for i, (tree, node) in leaf.items():
        for c in targets(i):
            table[i, c] = rng.normal()
            for k, v in (("treeids", tree), ("nodeids", node), ("ids", c), ("weights", float(table[i, c]))):
                lists[f"{of}_{k}"].append(v)
    return lists, table


def aggregated(trees, x, table, how):
    all_ = np.array([[table[walk(t, r)] for t in trees] for r in x])  # [row, tree, target]
    none = np.isnan(all_).all(1)
    with np.errstate(all="ignore"):
        s = {"SUM": lambda: np.nansum(all_, 1), "AVERAGE": lambda: np.nansum(all_, 1) / len(trees),
             "MIN": lambda: np.nanmin(np.where(none[:, None], 0, all_), 1),
             "MAX": lambda: np.nanmax(np.where(none[:, None], 0, all_), 1)}[how]()
    return s


def regressors():
    for modes, missing in itertools.product([[m] for m in range(6)] + [range(6)], [0, 1]):
        trees = forest(4, 4, modes, missing)
        lists, leaf = as_lists(trees, "target")
        for how, targets, base, post in [("SUM", 1, 0, "NONE"), ("AVERAGE", 1, 1, "LOGISTIC"), ("MIN", 3, 1, "NONE"),
                                         ("MAX", 3, 0, "LOGISTIC"), ("SUM", 3, 1, "SOFTMAX"),
                                         ("SUM", 3, 0, "SOFTMAX_ZERO")][:1 if len(modes) == 1 else 6]:
            weights, table = weights_of(leaf, lambda i: range(targets) if base else [i % targets], "target")
            table = np.pad(table, ((0, 0), (0, targets - table.shape[1])), constant_values=np.nan)
            x, more = rows(30, missing), {}
            s = aggregated(trees, x, table, how)
            if base:
                more["base_values"] = [float(np.float32(v)) for v in rng.normal(size=targets)]
                s = s + np.array(more["base_values"])
            run(f"regressor {list(modes)} {missing} {how} {targets} {post}", "TreeEnsembleRegressor", 3, x,
                [transformed(s, post).astype(np.float32)], target="c" if len(modes) > 1 and targets > 1 else "interp",
                n_targets=targets, aggregate_function=how, post_transform=post, **lists, **weights, **more)


def probits():
    want = np.full((2, 1), probit(np.float64(np.float32(0.3))), np.float32)
    run("probit", "TreeEnsembleRegressor", 3, rows(2, 0), [want],
        nodes_treeids=[0], nodes_nodeids=[0], nodes_featureids=[0], nodes_values=[0.0], nodes_modes=["LEAF"],
        nodes_truenodeids=[0], nodes_falsenodeids=[0], target_treeids=[0], target_nodeids=[0], target_ids=[0],
        target_weights=[0.3], n_targets=1, post_transform="PROBIT", tolerance=1e-4)
    run("probit of sums", "LinearRegressor", 1, rows(2, 0), [want], coefficients=[0.0] * 3, intercepts=[0.3], targets=1,
        post_transform="PROBIT", tolerance=1e-4)


def classifiers():
    for classes, of, post in itertools.product([2, 3], ["first", "own", "all"], ["NONE", "LOGISTIC", "SOFTMAX"]):
        if classes == 2 and of == "own":
            continue
        trees = forest(6, 3, [0], 0)
        lists, leaf = as_lists(trees, "class")
        chosen = {"first": lambda i: [0], "own": lambda i: [leaf[i][0] % classes], "all": lambda i: range(classes)}[of]
        weights, table = weights_of(leaf, chosen, "class")
        table = np.pad(table, ((0, 0), (0, classes - table.shape[1])), constant_values=np.nan)
        x = rows(25, 0)
        s = aggregated(trees, x, table, "SUM")
        labels = np.array([7, 3, 5][:classes])
        if classes == 2:
            which = (s[:, int(of == "all")] > 0).astype(int)
        else:
            which = np.argmax(np.where(np.isnan(table).all(0), -np.inf, s), 1)
        y = transformed(s, post)
        if classes == 2 and of == "first":
            y = np.stack([-s[:, 0], s[:, 0]], 1)
            y = logistic(y) if post == "LOGISTIC" else y
        for names in ({"classlabels_int64s": labels.tolist()}, {"classlabels_strings": ["a", "b", "c"][:classes]}):
            label = labels[which] if "classlabels_int64s" in names else which
            run(f"classifier {classes} {of} {post}", "TreeEnsembleClassifier", 3, x,
                [label.astype(np.int64), y.astype(np.float32)], post_transform=post, **names, **lists, **weights)


def ensembles():
    """TreeEnsemble: nodes and leaves apart, at most 64 of each in a file of this form."""
    for dtype, modes, missing in itertools.product([np.float32, np.float64, np.float16],
                                                   [[m] for m in range(7)] + [range(7)], [0, 1]):
        for how in range(4) if len(modes) > 1 else [1]:
            trees = [t for t in forest(5, 3, modes, missing, dtype) if not isinstance(t, int)]
            a = {k: [] for k in ("featureids", "splits", "modes", "truenodeids", "falsenodeids", "trueleafs",
                                 "falseleafs", "missing_value_tracks_true")}
            sets, roots = [], []

            def add(tree):
                at = len(a["modes"])
                for k, v in zip(a, (tree[1], tree[2], tree[0], 0, 0, 0, 0, int(tree[4]))):
                    a[k].append(v)
                if tree[0] == 6:
                    sets.extend(tree[3] + [dtype(np.nan)])
                for side, sub in (("true", tree[5]), ("false", tree[6])):
                    a[side + "leafs"][at] = int(isinstance(sub, int))
                    a[side + "nodeids"][at] = sub if isinstance(sub, int) else add(sub)
                return at

            roots = [add(t) for t in trees]
            if not roots or max(len(sets), len(a["modes"]), grow.leaves) > 64:
                continue
            weights, targets = rng.normal(size=grow.leaves).astype(dtype), rng.integers(2, size=grow.leaves)
            table = np.full((grow.leaves, 2), np.nan)
            table[np.arange(grow.leaves), targets] = weights
            a["splits"], a["modes"] = np.array(a["splits"], dtype), np.array(a["modes"], np.uint8)
            more = {"membership_values": np.array(sets, dtype)} if sets else {}
            x = rows(20, missing, dtype)
            s = aggregated(trees, x, table, ["AVERAGE", "SUM", "MIN", "MAX"][how])
            run(f"ensemble {dtype.__name__} {list(modes)} {missing} {how}", "TreeEnsemble", 5, x, [s.astype(dtype)],
                tolerance=2e-3 if dtype == np.float16 else 1e-5, tree_roots=roots, leaf_weights=weights,
                leaf_targetids=targets.tolist(), n_targets=2, aggregate_function=how,
                **{"nodes_" + k: v for k, v in a.items()}, **more)


# ---- sums of products ----
def reals(*shape):
    return rng.normal(size=shape).astype(np.float32)


def flat(a):
    return [float(v) for v in a.ravel()]


def linear(x):
    f = x.astype(np.float32)
    w, b = reals(2, 3), reals(2)
    run("linear regressor", "LinearRegressor", 1, x, [f @ w.T + b], coefficients=flat(w), intercepts=flat(b), targets=2)
    for n, post in itertools.product([1, 3], [p for p in POST if p != "PROBIT"]):
        w, b = reals(n, 3), reals(n)
        s = f @ w.T + b
        which = (s[:, 0] > 0).astype(np.int64) if n == 1 else np.argmax(s, 1)
        y = transformed(s, post)
        if n == 1:
            y = logistic(np.concatenate([-s, s], 1)) if post == "LOGISTIC" else np.concatenate([1 - s, s], 1)
        run(f"linear classifier {n} {post}", "LinearClassifier", 1, x,
            [np.array([4, 2, 9])[which], y.astype(np.float32)], coefficients=flat(w), intercepts=flat(b),
            classlabels_ints=[4, 2, 9][:max(n, 2)], post_transform=post)


def kernel(kind, x, v):
    gamma, zero, degree = 0.25, 0.5, 3.0
    dot, apart = x @ v.T, ((x[:, None] - v) ** 2).sum(2)
    return {"LINEAR": dot, "POLY": (gamma * dot + zero) ** degree, "RBF": np.exp(-gamma * apart),
            "SIGMOID": np.tanh(gamma * dot + zero)}[kind]


def coupled(r):
    """Probabilities of classes from those of pairs, by the steps of libsvm"""
    n = len(r)
    q = np.diag((r * r).sum(0)) - r * r.T
    p = np.full(n, np.float32(1) / n, np.float32)
    for _ in range(max(100, n)):
        qp = q @ p
        pqp = p @ qp
        if np.abs(qp - pqp).max() < 0.005 / n:
            break
        for t in range(n):
            by = (pqp - qp[t]) / q[t, t]
            p[t] += by
            pqp = (pqp + by * (by * q[t, t] + 2 * qp[t])) / (1 + by) ** 2
            qp, p = (qp + by * q[t]) / (1 + by), p / (1 + by)
    return p.astype(np.float32)


def vectors(x):
    f, common = x.astype(np.float32), {"kernel_params": [0.25, 0.5, 3.0]}
    for kind in ("LINEAR", "POLY", "RBF", "SIGMOID"):
        v, w = reals(4, 3), reals(4)
        s = kernel(kind, f, v) @ w[:, None] + np.float32(0.1)
        for one in (0, 1):
            y = np.where(s > 0, 1, -1).astype(np.float32) if one else s
            run(f"svm regressor {kind} {one}", "SVMRegressor", 1, x, [y], tolerance=1e-4, coefficients=flat(w),
                support_vectors=flat(v), n_supports=4, rho=[0.1], kernel_type=kind, one_class=one, **common)
        for of_class in ([2, 1], [1, 2, 3], [2, 0, 1, 1]):
            n, total = len(of_class), sum(of_class)
            v, w, rho = reals(total, 3), reals(n - 1, total), reals(n * (n - 1) // 2)
            start, k, s, votes = np.cumsum([0] + of_class), kernel(kind, f, v), [], np.zeros((len(x), n))
            for i, j in itertools.combinations(range(n), 2):
                a, b = slice(start[i], start[i + 1]), slice(start[j], start[j + 1])
                s.append(k[:, a] @ w[j - 1, a] + k[:, b] @ w[i, b] + rho[len(s)])
                votes[np.arange(len(x)), np.where(s[-1] > 0, i, j)] += 1
            s = np.stack(s, 1).astype(np.float32)
            y = np.concatenate([-s, s], 1) if n == 2 else s
            run(f"svm classifier {kind} {of_class}", "SVMClassifier", 1, x, [np.argmax(votes, 1), y], tolerance=1e-4,
                coefficients=flat(w), support_vectors=flat(v), vectors_per_class=of_class, rho=flat(rho),
                kernel_type=kind, classlabels_ints=list(range(n)), **common)
    for of_class in ([2, 1], [1, 2, 3], [1, 1, 1, 2]):
        n, total = len(of_class), sum(of_class)
        pairs = n * (n - 1) // 2
        v, w, rho = reals(total, 3), reals(n - 1, total), reals(pairs)
        a, b, start = -1.5 + reals(pairs) / 4, reals(pairs) / 4, np.cumsum([0] + of_class)
        k, r, votes = kernel("RBF", f, v), np.zeros((len(x), n, n), np.float32), np.zeros((len(x), n))
        for p, (i, j) in enumerate(itertools.combinations(range(n), 2)):
            s = k[:, start[i]:start[i + 1]] @ w[j - 1, start[i]:start[i + 1]]
            s = s + k[:, start[j]:start[j + 1]] @ w[i, start[j]:start[j + 1]] + rho[p]
            r[:, i, j] = logistic(-(s * a[p] + b[p]))
            r[:, j, i] = 1 - r[:, i, j]
            votes[np.arange(len(x)), np.where(s > 0, i, j)] += 1
        y = np.stack([coupled(one) for one in r])
        run(f"svm probabilities {of_class}", "SVMClassifier", 1, x, [np.argmax(votes, 1), y], tolerance=1e-4,
            coefficients=flat(w), support_vectors=flat(v), vectors_per_class=of_class, rho=flat(rho), prob_a=flat(a),
            prob_b=flat(b), kernel_type="RBF", classlabels_ints=list(range(n)), **common)


# ---- features ----
def features(x):
    f, real = x.astype(np.float32), np.issubdtype(x.dtype, np.floating)
    run("scaler", "Scaler", 1, x, [(f - np.float32([1, 2, 3])) * np.float32(0.5)], offset=[1.0, 2.0, 3.0], scale=[0.5])
    for norm, by in (("MAX", f.max(1)), ("L1", np.abs(f).sum(1)), ("L2", np.sqrt((f * f).sum(1)))):
        run("normalizer " + norm, "Normalizer", 1, x, [f / np.where(by == 0, 1, by)[:, None]], norm=norm)
    run("vector", "FeatureVectorizer", 1, x, [f[:, :2]], inputdimensions=[2])
    run("vector", "FeatureVectorizer", 1, x, [np.pad(f, ((0, 0), (0, 2)))], inputdimensions=[5])
    run("one hot", "OneHotEncoder", 1, x, [(x.astype(np.int64)[..., None] == [3, 0, -1]).astype(np.float32)],
        cats_int64s=[3, 0, -1], zeros=1)
    run("binarizer", "Binarizer", 1, x, [(x > 0.5).astype(x.dtype) if real else (x > 0).astype(x.dtype)], threshold=0.5)
    run("columns", "ZipMap", 1, x, [x], classlabels_strings=["a", "b", "c"])
    if real:
        gaps = np.where(rng.random(x.shape) < 0.3, np.nan, x).astype(x.dtype)
        run("imputer", "Imputer", 1, gaps, [np.where(np.isnan(gaps), np.array([5, 6, 7], x.dtype), gaps)],
            imputed_value_floats=[5.0, 6.0, 7.0], replaced_value_float=math.nan)
        keys = np.array([0, np.nan, 1], x.dtype)
        found = np.where(gaps == 0, 10, np.where(np.isnan(gaps), 20, np.where(gaps == 1, 30, 9)))
        run("labels of reals", "LabelEncoder", 4, gaps, [found], keys_tensor=keys, values_tensor=np.array([10, 20, 30]),
            default_tensor=np.array([9]))
    else:
        run("imputer", "Imputer", 1, x, [np.where(x == 0, np.array([5, 6, 7], x.dtype), x)],
            imputed_value_int64s=[5, 6, 7], replaced_value_int64=0)
        place = np.where(x == 1, 0, np.where(x == 3, 1, -1)).astype(np.int64)
        run("labels", "LabelEncoder", 2, x, [np.where(place < 0, -7, place + 10)], keys_int64s=[1, 3, 1],
            values_int64s=[10, 11, 99], default_int64=-7)
        run("labels to reals", "LabelEncoder", 2, x, [np.where(place < 0, 0, place + 1.5).astype(np.float32)],
            keys_int64s=[1, 3], values_floats=[1.5, 2.5])
        run("labels to texts", "LabelEncoder", 2, x, [place], keys_int64s=[1, 3], values_strings=["one", "three"])
        texts = {"keys_int64s": [1, 3, 0], "values_strings": ["one", "three", "one"], "default_string": "none"}
        kept = np.where((x == 1) | (x == 0), 4, np.where(x == 3, -5, 9)).astype(np.int64)
        run("texts to labels", "LabelEncoder", 2, x, [kept], before=texts, keys_strings=["", "none", "one", "three"],
            values_int64s=[7, 9, 4, -5])
        run("moved texts to labels", "LabelEncoder", 2, x, [kept.T.reshape(1, -1)], before=texts,
            moved=[("Identity", {}), ("Transpose", {}), ("Flatten", {"axis": 0})],
            keys_strings=["", "none", "one", "three"], values_int64s=[7, 9, 4, -5])
        run("texts to labels or none", "LabelEncoder", 2, x, [np.where(kept == 4, 1.5, -0.0).astype(np.float32)],
            before=texts, keys_strings=["one", "on"], values_floats=[1.5, 2.5])
        run("texts to texts", "LabelEncoder", 2, x, [np.where(kept == -5, 1, np.where(kept == 9, 0, -1))], before=texts,
            keys_strings=["none", "three"], values_strings=["x", "y"])
        run("one hot of texts", "OneHotEncoder", 1, x, [(kept[..., None] == [9, 4]).astype(np.float32)], before=texts,
            cats_strings=["none", "one"], zeros=1)
        if x.dtype == np.int64:
            run("classes", "LabelEncoder", 1, x, [np.where((x >= 0) & (x < 3), x, -1)], classes_strings=["a", "b", "c"])


regressors()
probits()
classifiers()
ensembles()
for dtype in (np.float32, np.float64, np.int32, np.int64):
    given = (rng.normal(size=(6, 3)) * 2).astype(dtype)
    given[2] = 0
    linear(given)
    vectors(given)
    features(given)
print(f"{runs} runs, {bad} bad")
sys.exit(bad > 0 or runs < 200)
