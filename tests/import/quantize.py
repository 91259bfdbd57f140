"""Files that tessera quantize writes: python3 quantize.py TESSERA WORK. Weights are held against what their definition
gives in numpy, results against ONNX Runtime without its optimizations and against the model in f32, everything that
is no product against the file it came from. Needs onnx and onnxruntime."""
import json
import os
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from contrib import differs, expected, run
from tools_models import models

TESSERA, WORK = sys.argv[1], sys.argv[2]
FLOAT = TensorProto.FLOAT
np.seterr(invalid="ignore")  # infinities that are compared
rng = np.random.default_rng(0)
bad = 0


def check(good, *words):
    global bad
    if not good:
        bad += 1
        print(*words)


def path(name):
    return os.path.join(WORK, name)


def quantize(source, to, *words):
    done = subprocess.run([TESSERA, "quantize", source, "-o", to, "--json", *words], capture_output=True, text=True)
    return done.returncode, json.loads(done.stdout)


def f(*shape):
    return (rng.standard_normal(shape) * 0.3).astype(np.float32)


def info(name, shape, kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def everything():
    """Products of each kind, and what a product must not disturb: a table that is looked up in and multiplied with, a
    weight in a graph further in, one that is an output, names that are taken, documentation, values of two sizes."""
    columns, table, both = f(40, 24), f(40, 24), f(24, 24)
    columns[:, 3] = 0
    weights = {"w": columns, "table": table, "both": both, "tall": f(24, 40), "scaled": f(24, 8), "shown": f(24, 5),
               "inner": f(24, 24), "bias": f(24), "w_quantized": f(24), "left": f(3, 3), "infinite": f(24, 4),
               "n" * 505: f(24, 6)}
    weights["infinite"][0, 0] = np.inf
    node = helper.make_node
    then = helper.make_graph([node("MatMul", ["h", "inner"], ["t"], name="within")], "then", [], [info("t", None)])
    other = helper.make_graph([node("Identity", ["h"], ["o"])], "other", [], [info("o", None)])
    nodes = [
        node("MatMul", ["x", "w"], ["a"], name="first", doc_string="kept"),
        node("Add", ["a", "w_quantized"], ["b"]),
        node("Gemm", ["b", "tall"], ["c"], name="plain"),
        node("Gemm", ["c", "table", ""], ["d"], name="none"),
        node("Gemm", ["d", "both", "bias"], ["e"], name="turned", transB=1),
        node("MatMul", ["e", "both"], ["g"], name="straight"),
        node("MatMul", ["g", "inner"], ["h"], name="outer"),
        node("If", ["truth"], ["i"], then_branch=then, else_branch=other),
        node("Gather", ["table", "ids"], ["j"]),
        node("Gemm", ["i", "scaled"], ["k"], name="half", alpha=0.5),
        node("MatMul", ["i", "shown"], ["l"], name="seen"),
        node("MatMul", ["left", "x"], ["m"], name="other_side"),
        node("MatMul", ["i", "infinite"], ["n"], name="endless"),
        node("MatMul", ["i", "n" * 505], ["o"], name="long"),
    ]
    graph = helper.make_graph(nodes, "all", [info("x", [3, 40]), info("ids", ["n"], TensorProto.INT64),
                                             info("truth", [], TensorProto.BOOL)],
                              [info("j", ["n", 24]), info("k", [3, 8]), info("l", [3, 5]), info("shown", [24, 5]),
                               info("m", [3, 40]), info("n", [3, 4]), info("o", [3, 6])],
                              [numpy_helper.from_array(v, k) for k, v in weights.items()], doc_string="a graph",
                              value_info=[info("a", [3, 24])])
    m = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="hand")
    helper.set_model_props(m, {"key": "value"})
    return m, {"x": f(3, 40), "ids": np.array([1, 5]), "truth": np.array(True)}


def by_column(w, axis):
    scale = np.maximum(np.abs(w).max(1 - axis, keepdims=True) / np.float32(127), np.finfo(np.float32).tiny)
    return np.clip(np.rint(w / scale), -127, 127).astype(np.int8), scale.ravel()


def unpacked(q, scale, k):
    low = np.stack([q & 15, q >> 4], -1).reshape(*q.shape[:2], -1).astype(np.float32) - 8
    return (low * scale.reshape(*q.shape[:2], 1)).reshape(q.shape[0], -1)[:, :k].T


def check_weights(label, source, m, block):
    """Every new weight against the one it is of; gives the largest relative error."""
    was = {t.name: numpy_helper.to_array(t) for t in source.graph.initializer}
    now = {t.name: numpy_helper.to_array(t) for t in m.graph.initializer}
    before = {n.output[0]: n for n in source.graph.node}
    real, worst = {}, 0
    for n in m.graph.node:
        if n.op_type == "DequantizeLinear" and n.output[0].endswith("_dequantized"):
            real[n.output[0]] = n
        at = next((o for o in (n.output[0], n.output[0].removesuffix("_product")) if o in before), None)
        old = before.get(at)
        if n.op_type == "MatMulNBits":
            a = {x.name: x.i for x in n.attribute}
            w = was[old.input[1]]
            w = w.T if any(x.name == "transB" and x.i for x in old.attribute) else w
            check((a["K"], a["N"], a["bits"], a["block_size"]) == (*w.shape, 4, block), label, n.name, a)
            got = unpacked(now[n.input[1]], now[n.input[2]], w.shape[0])
            coarse = np.zeros_like(w)  # no element further off than a step of the coarser of the two scales
            for b in range(0, w.shape[0], block):
                coarse[b:b + block] = np.abs(w[b:b + block]).max(0) / 7
            check((np.abs(got - w) <= coarse * 1.0001).all(), label, n.name, "elements are off by more than a step")
        elif old is not None and len(old.input) > 1 and n.input[1] in real and n.input[1] != old.input[1]:
            w, d = was[old.input[1]], real[n.input[1]]
            axis = d.attribute[0].i
            q, scale = by_column(w, axis)
            check((now[d.input[0]] == q).all() and (now[d.input[1]] == scale).all(), label, n.name, "other numbers")
            check(not now[d.input[2]].any() and now[d.input[2]].dtype == np.int8, label, n.name, "a zero that is none")
            got = q * np.expand_dims(scale, 1 - axis)
        else:
            continue
        off = w.astype(np.float64) - got
        worst = max(worst, np.sqrt((off ** 2).sum() / (w.astype(np.float64) ** 2).sum()))
    return worst


def check_rest(label, source, m, said):
    """All but products, their weights and the versions: the same bytes in the same order."""
    news = {n.SerializeToString() for n in m.graph.node} - {n.SerializeToString() for n in source.graph.node}
    olds = [n for n in source.graph.node if n.SerializeToString() not in {k.SerializeToString() for k in m.graph.node}]
    check(len(olds) == said["products"] and news, label, f"{len(olds)} nodes changed, {said['products']} products said")
    same = [n.SerializeToString() for n in m.graph.node if n.SerializeToString() not in news]
    want = [n.SerializeToString() for n in source.graph.node if n.SerializeToString() in set(same)]
    check(same == want, label, "nodes in another order")
    tensors = {t.name: t.SerializeToString() for t in source.graph.initializer}
    used = {i for n in m.graph.node for i in n.input} | {o.name for o in m.graph.output}
    for t in m.graph.initializer:
        check(tensors.get(t.name, t.SerializeToString()) == t.SerializeToString(), label, t.name, "changed")
        check(t.name in used or t.name == "inner", label, t.name, "is not used")
    for one in (source, m):
        del one.graph.node[:], one.graph.initializer[:]
        kept = [o for o in one.opset_import if o.domain != "com.microsoft"]
        del one.opset_import[:]
        one.opset_import.extend(kept)
    check(source.SerializeToString(deterministic=True) == m.SerializeToString(deterministic=True), label,
          "something else is not as it was")


def check_model(label, m, feeds, *words, targets=("interp", "c")):
    source, to = path("source.onnx"), path("quantized.onnx")
    onnx.save(m, source)
    code, said = quantize(source, to, *words)
    if code:
        check(False, label, said["error"])
        return None
    q = onnx.load(to)
    onnx.checker.check_model(q)
    check(said["bytes_after"] == os.path.getsize(to) and said["bytes_before"] == os.path.getsize(source), label, said)
    block = int(words[words.index("--block") + 1]) if "--block" in words else 32
    worst = check_weights(label, m, q, block)
    check(abs(worst - said["error"]) <= 1e-5 * worst, label, f"error {said['error']}, it is {worst}")
    want, _ = expected(q, feeds)
    f32, _ = expected(m, feeds)
    for target in targets:
        code, out, folder = run(TESSERA, WORK, to, feeds, target)
        for name, y in want.items() if not code else ():
            wrong = differs(np.load(os.path.join(folder, name + ".npy")), y, 1e-5)
            check(not wrong, label, target, name, wrong)
        check(not code, label, target, out)
    off = 2 * worst * said["products"] ** 0.5  # each adds its own, one behind the other at most
    for name, y in want.items():
        at = np.isfinite(f32[name])
        far = np.sqrt(((y - f32[name])[at] ** 2).sum() / (f32[name][at] ** 2).sum())
        check(far <= off, label, name, f"{far:.3g} from f32, at most {off} expected")
    check_rest(label, onnx.load(source), q, said)
    return said


def rounded(m, feeds):
    """How often each operator stands in the file as ONNX Runtime optimizes it, and what that gives."""
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.optimized_model_filepath, options.log_severity_level = path("optimized.onnx"), 3
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    session = ort.InferenceSession(m.SerializeToString(), options, providers=["CPUExecutionProvider"])
    y = dict(zip([o.name for o in session.get_outputs()], session.run(None, feeds)))
    kinds = [n.op_type for n in onnx.load(path("optimized.onnx")).graph.node]
    return {k: kinds.count(k) for k in kinds}, y


def check_biases(label, source, m):
    """i32, in steps of the value's times the weight's."""
    was, now = ({t.name: numpy_helper.to_array(t) for t in one.graph.initializer} for one in (source, m))
    made, before = {o: n for n in m.graph.node for o in n.output}, {n.output[0]: n for n in source.graph.node}
    for n in m.graph.node:
        if n.op_type not in ("Conv", "Gemm") or len(n.input) < 3 or n.input[2] in was:
            continue
        x, w, b = (made[i] for i in n.input)
        step = now[x.input[1]] * now[w.input[1]]
        off = np.abs(now[b.input[0]] * step.astype(np.float64) - was[before[n.output[0]].input[2]])
        check((now[b.input[1]] == step).all() and (off <= 0.501 * step).all(), label, n.name, "another bias")


def check_static(name, m, feeds):
    """Values too: the same here and in ONNX Runtime but for last bits, near f32, and integers all through there."""
    label, folder = name + " static", path("sample-" + name)
    os.makedirs(folder, exist_ok=True)
    for k, v in feeds.items():
        np.save(os.path.join(folder, k + ".npy"), v)
    onnx.save(m, path("source.onnx"))
    code, said = quantize(path("source.onnx"), path("quantized.onnx"), "--int8", "--calibrate", folder)
    if code:
        check(False, label, said["error"])
        return
    q = onnx.load(path("quantized.onnx"))
    onnx.checker.check_model(q, full_check=True)
    check_biases(label, m, q)
    kinds = [n.op_type for n in q.graph.node]
    check(kinds.count("QuantizeLinear") == said["values"] and said["samples"] == 1, label, said)
    f32, want = expected(m, feeds)[0], expected(q, feeds)[0]
    count, optimized = rounded(q, feeds)
    convolutions = kinds.count("Conv")
    check(count.get("QLinearConv", 0) == convolutions, label, f"of {convolutions} convolutions", count)
    for target in ("interp", "c"):
        code, out, folder = run(TESSERA, WORK, path("quantized.onnx"), feeds, target)
        check(not code, label, target, out)
        for k, y in want.items() if not code else ():
            got, most = np.load(os.path.join(folder, k + ".npy")), np.abs(f32[k]).max()
            there = np.abs(optimized[k] - y).max() / most  # what last bits come to, in two ways of one runtime
            off, far = np.abs(got - y).max() / most, np.abs(got - f32[k]).max() / most
            most = max(1e-5, 3 * there, 0.01 * (convolutions > 0))
            check(off <= most, label, target, k, f"off by {off:.3g}, {there:.3g} there")
            check(0 < far <= 0.1, label, target, k, f"{far:.3g} from f32")


def check_outside():
    """Numbers in another file come into the one, as bits; the same file can be replaced."""
    m, _ = everything()
    source = path("outside.onnx")
    copy = onnx.ModelProto.FromString(m.SerializeToString())
    onnx.save(copy, source, save_as_external_data=True, location="numbers.bin", size_threshold=16)
    os.makedirs(path("there"), exist_ok=True)
    for to in (path("there/outside.onnx"), source):
        code, said = quantize(source, to, "--weights", "int8")
        check(not code and said["bytes_before"] > said["bytes_after"], "outside", said)
        q = onnx.load(to, load_external_data=False)
        check(not any(t.data_location for t in q.graph.initializer), "outside: not in one file")
        check_weights("outside", m, q, 0)
        want = {t.name: numpy_helper.to_array(t) for t in m.graph.initializer}
        for t in q.graph.initializer:
            check(t.name not in want or (numpy_helper.to_array(t) == want[t.name]).all(), "outside", t.name)
    onnx.save(m, source, save_as_external_data=True, location="short.bin", size_threshold=16)
    os.truncate(path("short.bin"), 100)
    code, said = quantize(source, path("short.onnx"), "--weights", "int8")
    check(code == 3 and "X003" in said["error"]["text"] and not os.path.exists(path("short.onnx")), "short", code, said)


def check_vector():
    """One row without an axis for it."""
    m = helper.make_model(helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "vector",
                                            [info("x", [40])], [info("y", [24])],
                                            [numpy_helper.from_array(f(40, 24), "w")]),
                          opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    for bits in ("int8", "int4"):
        check_model(f"vector {bits}", m, {"x": f(40)}, "--weights", bits)


def check_turned():
    """x W' as exporters write it: the Transpose goes where all that it gives is quantized, and its weight."""
    node = helper.make_node
    weights = [numpy_helper.from_array(f(24, 40), "w"), numpy_helper.from_array(f(24, 24), "v")]
    nodes = [node("Transpose", ["w"], ["wt"], name="all", perm=[1, 0]), node("Transpose", ["v"], ["vt"], name="some"),
             node("MatMul", ["x", "wt"], ["a"], name="one"), node("MatMul", ["a", "vt"], ["b"], name="two"),
             node("Gemm", ["b", "vt"], ["c"], name="three"), node("Add", ["c", "vt"], ["y"])]
    m = helper.make_model(helper.make_graph(nodes, "turned", [info("x", [24, 40])], [info("y", [24, 24])], weights),
                          opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    feeds, source = {"x": f(24, 40)}, path("source.onnx")
    onnx.save(m, source)
    for bits, off in (("int8", 0.02), ("int4", 0.3)):
        code, said = quantize(source, path("quantized.onnx"), "--weights", bits)
        check(not code and said["products"] == 3, "turned", said)
        q = onnx.load(path("quantized.onnx"))
        onnx.checker.check_model(q)
        kept = {n.name for n in q.graph.node} & {"all", "some"} | {t.name for t in q.graph.initializer} & {"w", "v"}
        check(kept == {"some", "v"}, "turned", bits, kept)
        want, f32 = expected(q, feeds)[0]["y"], expected(m, feeds)[0]["y"]
        check(0 < np.abs(want - f32).max() <= off * np.abs(f32).max(), "turned", bits, np.abs(want - f32).max())
        code, out, folder = run(TESSERA, WORK, path("quantized.onnx"), feeds, "c")
        wrong = out if code else differs(np.load(os.path.join(folder, "y.npy")), want, 1e-5)
        check(not wrong, "turned", bits, wrong)


def check_damaged():
    """A file that is cut, or has a byte changed, is refused or read: never a crash."""
    m, _ = everything()
    whole = m.SerializeToString()
    for i in range(200):
        at = int(rng.integers(len(whole)))
        data = whole[:at] if i % 4 == 0 else whole[:at % 2000] + bytes([int(rng.integers(256))]) + whole[at % 2000 + 1:]
        with open(path("damaged.onnx"), "wb") as out:
            out.write(data)
        code, said = quantize(path("damaged.onnx"), path("mended.onnx"), "--weights", "int4" if i % 2 else "int8")
        check(code in (0, 3, 4), "damaged", i, code, said)


def main():
    for bits, words in (("int8", []), ("int4", []), ("int4", ["--block", "16"])):
        said = check_model(f"all {bits}", *everything(), "--weights", bits, *words)
        check(said and said["kept"] == (1 if bits == "int8" else 2), "all", bits, said)
        every = said["products"] if said else 0
        said = check_model(f"kept {bits}", *everything(), "--weights", bits, "--keep", "s*", "--keep", "tab*",
                           *words, targets=["interp"])
        gone = 4 if bits == "int8" else 3  # straight, seen, none, and half, which has no packed form
        check(said and every - said["products"] == gone, "kept", bits, said)
        for name, m, feeds in models():
            if name in ("mlp", "bert", "gpt2"):
                check_model(f"{name} {bits}", m, feeds, "--weights", bits, *words)
    for name, m, feeds in models():
        if name in ("mlp", "convolutions", "residual", "depthwise", "bert", "gpt2", "vit"):
            check_static(name, m, feeds)
    check_vector()
    check_turned()
    check_outside()
    check_damaged()
    print(f"{bad} wrong")
    sys.exit(bad > 0)


main()
