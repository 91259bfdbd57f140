"""Recurrent models of which a run says the length: python3 lengths.py TESSERA WORK TARGET.... One program for a range
gives, at several lengths, what the interpreter gives for that length alone, and what ONNX Runtime does where it is
installed; other lengths are refused. Needs onnx."""
import os
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

try:
    import onnxruntime
except ImportError:
    onnxruntime = None

tessera, work, *targets = sys.argv[1:]
rng = np.random.default_rng(0)
BATCH, WIDE, HIDDEN = 2, 6, 5
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
node, value = helper.make_node, helper.make_tensor_value_info
failed = 0


def weight(name, *shape):
    return numpy_helper.from_array((rng.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32), name)


def whole(name, *v):
    return numpy_helper.from_array(np.array(v if len(v) != 1 else v[0], np.int64), name)


def layer(kind, direction, x="x", hidden=HIDDEN, lengths=False, **attributes):
    ways = 2 if direction == "bidirectional" else 1
    rows = GATES[kind] * hidden
    outs = ["y", "h"] + (["c"] if kind == "LSTM" else [])
    nodes = [node(kind, [x, "w", "r", "b"] + (["lengths"] if lengths else []), outs, hidden_size=hidden,
                  direction=direction, **attributes)]
    return nodes, [weight("w", ways, rows, WIDE), weight("r", ways, rows, hidden), weight("b", ways, 2 * rows)], outs


def loop_body(kind, nodes, inputs, outputs, weights=()):
    shapes = {n: (TensorProto.INT64, []) for n in "ij"}
    shapes |= {n: (TensorProto.BOOL, []) for n in ("go", "on", "more", "still")} 
    shapes |= {"place": (TensorProto.FLOAT, [])} | {n: (TensorProto.FLOAT, None) for n in ("list", "longer")}
    ports = [[value(n, *shapes.get(n, (TensorProto.FLOAT, [BATCH, WIDE]))) for n in names]
             for names in (inputs, outputs)]
    return helper.make_graph(nodes, kind, *ports, list(weights))


def growing():
    """States that a trip adds a row to, and nothing else, are rows that are gathered."""
    count = [node("Shape", ["x"], ["shape"], start=0, end=1), node("Squeeze", ["shape"], ["n"])]
    trip = [node("Identity", ["go"], ["on"]), node("Gather", ["x", "i"], ["row"], axis=0),
            node("Add", ["s", "row"], ["a"]), node("Tanh", ["a"], ["next"]),
            node("Unsqueeze", ["next", "one"], ["more"])]
    body = loop_body("grown", trip + [node("Concat", ["list", "more"], ["longer"], axis=1)], ["i", "go", "s", "list"],
                     ["on", "next", "longer"])
    yield "grown by Concat", [*count, node("Loop", ["n", "", "zero", "first"], ["y", "z"], body=body)], [
        weight("zero", BATCH, WIDE), weight("first", BATCH, 1, WIDE), whole("one", [1])], ["y", "z"]
    sequences = [helper.make_tensor_sequence_value_info(n, TensorProto.FLOAT, None) for n in ("list", "longer")]
    body = loop_body("listed", trip + [node("SequenceInsert", ["list", "more"], ["longer"])], ["i", "go", "s"],
                     ["on", "next"])
    body.input.append(sequences[0])
    body.output.append(sequences[1])
    yield "grown list", [
        *count, node("SequenceEmpty", [], ["empty"]), node("Loop", ["n", "", "zero", "empty"], ["y", "all"], body=body),
        node("ConcatFromSequence", ["all"], ["z"], axis=1),
        node("ConcatFromSequence", ["all"], ["w"], axis=2, new_axis=1),
        node("SequenceLength", ["all"], ["m"]), node("Cast", ["m"], ["f"], to=TensorProto.FLOAT),
        node("Div", ["w", "f"], ["v"])], [weight("zero", BATCH, WIDE), whole("one", [1])], ["y", "z", "v"]


def looped(name, nodes, weights, inner=(), outs=("y", "z")):
    """A loop over as many trips as x has rows, of a state, which is gathered; inner: nodes before it."""
    body = loop_body(name, [node("Identity", ["go"], ["on"]), *nodes, node("Tanh", ["sum"], ["next"]),
                            node("Identity", ["next"], ["out"])], ["i", "go", "s"], ["on", "next", "out"])
    return name, [node("Shape", ["x"], ["shape"], start=0, end=1), node("Squeeze", ["shape"], ["n"]), *inner,
                  node("Loop", ["n", "", "zero"], list(outs), body=body)], [weight("zero", BATCH, WIDE), *weights], outs


def within_trips():
    """What a trip reads and sums up follows the length, too: rows counted from the end or by other numbers than its
    own, sums over all rows, loops within it."""
    place = [node("Mul", ["i", "two"], ["twice"]), node("Sub", ["minus", "i"], ["back"]),
             node("Gather", ["both", "twice"], ["p"], axis=0), node("Gather", ["x", "back"], ["q"], axis=0)]
    yield looped("rows by other numbers", place + [node("Sum", ["s", "p", "q"], ["sum"])],
                 [whole("two", 2), whole("minus", -1)], [node("Concat", ["x", "x"], ["both"], axis=0)])
    attention = [node("Mul", ["x", "s"], ["p"]), node("Softmax", ["p"], ["w"], axis=0), node("Mul", ["w", "x"], ["v"]),
                 node("ReduceSum", ["v", "first"], ["sum"], keepdims=0)]
    yield looped("attention in a trip", attention, [whole("first", [0])])
    share = [node("Cast", ["i"], ["at"], to=TensorProto.FLOAT), node("Cast", ["n"], ["all"], to=TensorProto.FLOAT),
             node("Div", ["at", "all"], ["share"]), node("ReduceMean", ["x"], ["mean"], axes=[0], keepdims=0)]
    yield looped("shares", share + [node("Sum", ["s", "share", "mean"], ["sum"])], [])
    rows = [node("Identity", ["more"], ["still"]), node("Gather", ["x", "j"], ["row"], axis=0),
            node("Gather", ["x", "back"], ["same"], axis=0), node("Mul", ["same", "x"], ["all"]),
            node("ReduceMean", ["all"], ["m"], axes=[0], keepdims=0), node("Sum", ["t", "row", "m"], ["r"]),
            node("Tanh", ["r"], ["u"]), node("Identity", ["u"], ["each"])]
    inner = loop_body("inner", rows, ["j", "more", "t"], ["still", "u", "each"])
    yield looped("loop in a loop", [node("Sub", ["minus", "i"], ["back"]),
                                    node("Loop", ["n", "", "s"], ["last", "kept"], body=inner),
                                    node("ReduceMean", ["kept"], ["mean"], axes=[0], keepdims=0),
                                    node("Add", ["last", "mean"], ["sum"])], [whole("minus", -1)])


def cases():
    for kind in GATES:
        for direction in ("forward", "reverse", "bidirectional"):
            for lengths in (False, True):
                yield f"{kind} {direction}{' lengths' if lengths else ''}", *layer(kind, direction, lengths=lengths)
    yield "GRU by tables", *layer("GRU", "bidirectional", hidden=192)
    for back in (0, 1):
        body = loop_body("scan", [node("Add", ["s", "row"], ["a"]), node("MatMul", ["a", "m"], ["p"]),
                                  node("Tanh", ["p"], ["next"]), node("Identity", ["next"], ["out"])],
                         ["s", "row"], ["next", "out"], [weight("m", WIDE, WIDE)])
        yield f"Scan {back}", [node("Scan", ["zero", "x"], ["y", "z"], body=body, num_scan_inputs=1,
                                    scan_input_directions=[back], scan_output_directions=[back])], [
                                        weight("zero", BATCH, WIDE)], ["y", "z"]
    body = loop_body("loop", [node("Identity", ["go"], ["on"]), node("Cos", ["s"], ["next"]),
                              node("Identity", ["next"], ["out"])], ["i", "go", "s"], ["on", "next", "out"])
    yield "Loop", [node("Shape", ["x"], ["shape"], start=0, end=1), node("Squeeze", ["shape"], ["n"]),
                   node("Loop", ["n", "", "zero"], ["y", "z"], body=body), node("Add", ["z", "x"], ["sum"])], [
                       weight("zero", BATCH, WIDE)], ["y", "sum"]
    body = loop_body("number", [node("Identity", ["go"], ["on"]), node("Gather", ["x", "i"], ["row"], axis=0),
                                node("Gather", ["across", "i"], ["same"], axis=1), node("Add", ["s", "row"], ["a"]),
                                node("Mul", ["a", "same"], ["b"]), node("Tanh", ["b"], ["next"]),
                                node("Identity", ["next"], ["out"])], ["i", "go", "s"], ["on", "next", "out"])
    yield "Loop by number", [node("Shape", ["x"], ["shape"], start=0, end=1), node("Squeeze", ["shape"], ["n"]),
                             node("Transpose", ["x"], ["across"], perm=[1, 0, 2]),
                             node("Loop", ["n", "", "zero"], ["y", "z"], body=body)], [weight("zero", BATCH, WIDE)], [
                                 "y", "z"]
    yield from within_trips()
    yield from growing()
    body = loop_body("scan", [node("Mul", ["s", "place"], ["p"]), node("Add", ["p", "row"], ["a"]),
                              node("Tanh", ["a"], ["next"])], ["s", "place", "row"], ["next"])
    yield "Scan over places from the end", [
        node("Shape", ["x"], ["shape"], start=0, end=1), node("Squeeze", ["shape"], ["n"]),
        node("Add", ["n", "minus"], ["last"]), node("Range", ["last", "minus", "minus"], ["back"]),
        node("Cast", ["back"], ["f"], to=TensorProto.FLOAT),
        node("Scan", ["zero", "f", "x"], ["y"], body=body, num_scan_inputs=2)], [
            weight("zero", BATCH, WIDE), whole("minus", -1)], ["y"]
    yield "sums from the end", [node("ReduceMean", ["x"], ["mean"], axes=[1, 2], keepdims=0),
                                node("CumSum", ["mean", "first"], ["y"], reverse=1)], [whole("first", 0)], ["y"]
    mean = [node("Shape", ["x"], ["shape"]), node("Cast", ["shape"], ["f"], to=TensorProto.FLOAT),
            node("ReduceMean", ["x"], ["mean"], keepdims=0)]
    yield "shape", [*mean, node("Mul", ["f", "mean"], ["y"])], [], ["y"]
    yield "rows of shape", [*mean, node("Reshape", ["f", "column"], ["rows"]), node("Add", ["rows", "mean"], ["y"])], [
        whole("column", -1, 1)], ["y"]
    yield "of shape", [*mean, node("Cast", ["x"], ["i"], to=TensorProto.INT64), node("Abs", ["i"], ["a"]),
                       node("Mod", ["a", "three"], ["at"]), node("Gather", ["f", "at"], ["y"])], [
                           whole("three", 3)], ["y"]
    nodes, weights, _ = layer("LSTM", "bidirectional")
    head = [node("Transpose", ["y"], ["t"], perm=[0, 2, 1, 3]), node("Reshape", ["t", "flat"], ["f"]),
            node("MatMul", ["f", "m"], ["p"]), node("Softmax", ["p"], ["tags"], axis=-1)]
    weights += [weight("m", 2 * HIDDEN, 4), whole("flat", 0, 0, -1)]
    yield "tagger", nodes + head, weights, ["tags"]
    image = [node("Transpose", ["x"], ["turned"], perm=[1, 2, 0]), node("Unsqueeze", ["turned", "one"], ["image"]),
             node("Conv", ["image", "k"], ["conv"], pads=[1, 1, 1, 1]), node("Relu", ["conv"], ["relu"]),
             node("MaxPool", ["relu"], ["pool"], kernel_shape=[2, 2], strides=[2, 2]),
             node("Conv", ["pool", "l"], ["row"]), node("Squeeze", ["row", "two"], ["line"]),
             node("Transpose", ["line"], ["steps"], perm=[2, 0, 1])]
    yield ("image", image + layer("LSTM", "bidirectional", x="steps")[0] + head,
           weights + [weight("k", 4, 1, 3, 3), weight("l", WIDE, 4, 3, 1), whole("one", [1]), whole("two", [2])],
           ["tags"])


def run(path, out, values, *words):
    for name, x in values.items():
        np.save(f"{work}/{name}.npy", x)
    given = [w for name in values for w in ("--in", f"{name}={work}/{name}.npy")]
    done = subprocess.run([tessera, "run", path, "-q", *given, "-o", out, *words], capture_output=True, text=True)
    return done.returncode, done.stderr


def apart(a, b):
    return np.inf if a.shape != b.shape else float(np.abs(a - b).max(initial=0))


def check(name, ok, *said):
    global failed
    if not ok:
        failed += 1
        print(name, *said)


def inputs_of(n, lengths):
    x = {"x": rng.standard_normal((n, BATCH, WIDE)).astype(np.float32)}
    return x | ({"lengths": np.array([n, n // 2], np.int32)} if lengths else {})


def compare(name, path, outs, n, span, lengths):
    values = inputs_of(n, lengths)
    code, said = run(path, f"{work}/alone", values, "--dim", f"seq={n}", "--target", "interp")
    check(name, code == 0, said)
    want = [np.load(f"{work}/alone/{o}.npy") for o in outs]
    if onnxruntime and not (lengths and n < 2):
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        for o, a, b in zip(outs, want, session.run(outs, values)):
            check(name, apart(a, b) < 2e-5, f"ONNX Runtime at {n}, {o}: {apart(a, b):.3g} apart")
    for target in targets:
        code, said = run(path, f"{work}/varying", values, "--dim", f"seq={span}", "--target", target)
        check(name, code == 0, target, said)
        for o, a in zip(outs, want) if code == 0 else ():
            far = apart(a, np.load(f"{work}/varying/{o}.npy"))
            check(name, far < 2e-5, f"{target} at {n}, {o}: {far:.3g} apart")


def refused(name, path, n, span, text, wanted=3):
    code, said = run(path, f"{work}/none", inputs_of(n, False), "--dim", f"seq={span}", "--target", targets[0])
    check(name, code == wanted and text in said, f"a length of {n}: {code}, {said}")


def refused_apart():
    """What cannot be rewritten for two ranges is refused for what it was refused for before: m * m rows."""
    nodes = [node("Shape", ["z"], ["m"]), node("Mul", ["m", "m"], ["square"]), node("Expand", ["one", "square"], ["y"]),
             node("Relu", ["x"], ["positive"])]
    graph = helper.make_graph(nodes, "apart", [value("x", TensorProto.FLOAT, ["n", 4]),
                                               value("z", TensorProto.FLOAT, ["m"])],
                              [value("y", TensorProto.FLOAT, None), value("positive", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(np.ones(1, np.float32), "one")])
    path = f"{work}/model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    done = subprocess.run([tessera, "explain", path, "--dim", "n=1..6", "--dim", "m=1..5", "--target", targets[0]],
                          capture_output=True, text=True)
    check("apart", done.returncode == 4 and 'dimension "m" cannot vary' in done.stderr, done.returncode, done.stderr)


def counts():
    """Loops over x [seq, ...] of which the number of trips is the value k of an input, and what decides extents."""
    body = loop_body("row", [node("Identity", ["go"], ["on"]), node("Gather", ["x", "i"], ["row"], axis=0),
                             node("Add", ["s", "row"], ["next"])], ["i", "go", "s"], ["on", "next"])
    zero = weight("zero", BATCH, WIDE)
    yield "rows", [node("Loop", ["k", "", "zero"], ["y"], body=body)], [zero], ""
    yield "fewest", [node("Shape", ["x"], ["shape"], start=0, end=1), node("Squeeze", ["shape"], ["n"]),
                     node("Min", ["k", "n"], ["m"]), node("Loop", ["m", "", "zero"], ["y"], body=body)], [zero], ""
    body = loop_body("kept", [node("Identity", ["go"], ["on"]), node("Cos", ["s"], ["next"]),
                              node("Identity", ["next"], ["out"])], ["i", "go", "s"], ["on", "next", "out"])
    yield "gathered", [node("Loop", ["k", "", "zero"], ["last", "y"], body=body)], [zero], "k=1..30"
    yield "range", [node("Range", ["none", "k", "one"], ["r"]), node("Cast", ["r"], ["f"], to=TensorProto.FLOAT),
                    node("ReduceMean", ["x"], ["mean"], keepdims=0), node("Mul", ["f", "mean"], ["y"])], [
                        whole("none", 0), whole("one", 1)], "k=1..30"


def counted(name, nodes, weights, span):
    graph = helper.make_graph(nodes, name, [value("x", TensorProto.FLOAT, ["seq", BATCH, WIDE]),
                                            value("k", TensorProto.INT64, [])],
                              [value("y", TensorProto.FLOAT, None)], weights)
    path = f"{work}/model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    varying = ["--dim", "seq=1..40"] + (["--dim", span] if span else [])
    for n, k in ((40, 30), (26, 19), (7, 7), (7, 1), (3, 2)):
        values = {**inputs_of(n, False), "k": np.array(k)}
        code, said = run(path, f"{work}/alone", values, "--dim", f"seq={n}", "--target", "interp")
        check(name, code == 0, said)
        want = np.load(f"{work}/alone/y.npy")
        if onnxruntime:
            session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
            check(name, apart(want, session.run(["y"], values)[0]) < 2e-5, f"ONNX Runtime at {n}, {k}")
        for target in targets:
            code, said = run(path, f"{work}/varying", values, *varying, "--target", target)
            check(name, code == 0, target, said)
            far = apart(want, np.load(f"{work}/varying/y.npy")) if code == 0 else 0
            check(name, far < 2e-5, f"{target} at {n}, {k}: {far:.3g} apart")
    for n, k, text in ((3, 4, "an index is outside" if name == "rows" else ""),
                       (3, 31, 'dimension "k" is 31 by the value of input "k", outside of --dim k=1..30'
                        if span else "")):
        code, said = run(path, f"{work}/none", {**inputs_of(n, False), "k": np.array(k)}, *varying, "--target",
                         targets[0])
        check(name, not text or (code and text in said), f"{k} trips over {n} rows: {code}, {said}")


made = 0
for case in counts():
    counted(*case)
    made += 1
for name, nodes, weights, outs in cases():
    lengths = "lengths" in name
    ports = [value("x", TensorProto.FLOAT, ["seq", BATCH, WIDE])]
    ports += [value("lengths", TensorProto.INT32, [BATCH])] if lengths else []
    graph = helper.make_graph(nodes, "lengths", ports, [value(o, TensorProto.FLOAT, None) for o in outs], weights)
    path = f"{work}/model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    low, span = (4, "4..40/2") if name == "image" else (1, "1..40")
    for n in (40, 26, 4, low):
        compare(name, path, outs, n, span, lengths)
    if name == "GRU forward":
        for n in (0, 41):
            refused(name, path, n, span,
                    f'dimension "seq" is {n} by the value of input "x", outside of --dim seq=1..40')
    made += 1
refused_apart()
print(f"{made} models")
sys.exit(failed > 0)
