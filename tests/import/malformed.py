"""Writes the files that malformed_test.sh gives to the command: python3 malformed.py FOLDER. ONNX is written field by
field, so that whatever a file can get wrong can be written. Prints nothing."""
import json
import os
import struct
import sys

F32, I32, I64, F64 = 1, 6, 7, 11


def varint(v):
    v &= (1 << 64) - 1
    out = b""
    while v >= 0x80:
        out += bytes([v & 0x7F | 0x80])
        v >>= 7
    return out + bytes([v])


def num(field, v):
    return varint(field << 3) + varint(v)


def msg(field, body):
    body = body.encode() if isinstance(body, str) else body
    return varint(field << 3 | 2) + varint(len(body)) + body


def port(name, dtype=F32, dims=()):
    shape = b"".join(msg(1, msg(2, d) if isinstance(d, str) else num(1, d)) for d in dims)
    return msg(1, name) + msg(2, msg(1, num(1, dtype) + msg(2, shape)))


def tensor(name, dims, dtype=F32, raw=None, more=b""):
    return (b"".join(num(1, d) for d in dims) + num(2, dtype) + msg(8, name) +
            (b"" if raw is None else msg(9, raw)) + more)


def external(name, location, dims=(2,), **keys):
    entries = dict({} if location is None else {"location": location}, **keys)
    return tensor(name, dims, more=num(14, 1) + b"".join(msg(13, msg(1, k) + msg(2, v)) for k, v in entries.items()))


def attribute(name, v):
    if isinstance(v, bytes):  # already fields
        return msg(1, name) + v
    if isinstance(v, int):
        return msg(1, name) + num(3, v) + num(20, 2)
    if isinstance(v, float):
        return msg(1, name) + varint(2 << 3 | 5) + struct.pack("<f", v) + num(20, 1)
    if isinstance(v, str):
        return msg(1, name) + msg(4, v) + num(20, 3)
    return msg(1, name) + b"".join(num(8, i) for i in v) + num(20, 7)


def node(kind, ins, outs, name="", domain="", raw=b"", **attrs):
    return (b"".join(msg(1, i) for i in ins.split(",") if ins) + b"".join(msg(2, o) for o in outs.split(",") if outs) +
            msg(3, name) + msg(4, kind) + (msg(7, domain) if domain else b"") +
            b"".join(msg(5, attribute(k, v)) for k, v in attrs.items()) + raw)


def graph(nodes=(), inputs=(), outputs=(), tensors=(), more=b""):
    return (b"".join(msg(1, n) for n in nodes) + msg(2, "g") + b"".join(msg(5, t) for t in tensors) +
            b"".join(msg(11, i) for i in inputs) + b"".join(msg(12, o) for o in outputs) + more)


def model(g, opset=17, more=b""):
    return num(1, 8) + msg(7, g) + (msg(8, msg(1, "") + num(2, opset)) if opset else b"") + more


X, Y = port("x", dims=(2, 3)), port("y")


def one(kind, ins="x", tensors=(), inputs=(X,), out=Y, **attrs):
    """A model of one step called n."""
    return model(graph([node(kind, ins, "y", "n", **attrs)], inputs, [out], tensors))


def ints(name, *v):
    return tensor(name, (len(v),), I64, struct.pack("<%dq" % len(v), *v))


def floats(name, *dims):
    n = 1
    for d in dims:
        n *= d
    return tensor(name, dims, raw=b"\0" * (4 * n))


def held(*tensors):
    """A model that adds the first tensor, w, to x."""
    return model(graph([node("Add", "x,w", "y", "n")], [port("x", dims=(2,))], [Y], tensors))


def nested(levels):
    g = graph()
    for _ in range(levels):
        g = graph([msg(5, msg(1, "body") + msg(6, g) + num(20, 5))])
    return model(g)


RELU = model(graph([node("Relu", "x", "y", "n")], [X], [Y]))


def shaped(*dims, dtype=F32):
    return (port("x", dtype, dims),)


def operator_files():
    """Operators whose operands or attributes make no sense."""
    square = floats("w", 4, 4)
    yield "top-k", one("TopK", "x,k", tensors=[ints("k", 9)])
    yield "split-uneven", model(graph([node("Split", "x", "y,z", "n", axis=0)], [port("x", dims=(3, 2))], [Y], ()), 13)
    yield "slice-step", one("Slice", "x,a,b,c,d", tensors=[ints("a", 0), ints("b", 2), ints("c", 0), ints("d", 0)])
    yield "squeeze", one("Squeeze", "x,a", tensors=[ints("a", 0)])
    yield "unsqueeze-twice", one("Unsqueeze", "x,a", tensors=[ints("a", 0, 0)])
    yield "expand", one("Expand", "x,s", tensors=[ints("s", 5, 3)])
    yield "perm-length", one("Transpose", perm=[1, 0, 2])
    yield "conv-rank", one("Conv", "x,w", inputs=shaped(4), tensors=[square])
    yield "pool-kernel", one("MaxPool", inputs=shaped(1, 1, 4, 4))
    yield "gemm-rank", one("Gemm", "x,w", inputs=shaped(2, 3, 4), tensors=[square])
    yield "where-condition", one("Where", "x,x,x")
    yield "sqrt-integers", one("Sqrt", inputs=shaped(3, dtype=I64))
    yield "add-truths", one("Add", "x,x", inputs=(port("x", 9, (2, 3)),))
    yield "norm-mixed", one("LayerNormalization", "x,s", tensors=[ints("s", 1, 1, 1)])
    yield "shift-reals", one("BitShift", "x,x", direction="LEFT")
    yield "reshape-reals", one("Reshape", "x,w", tensors=[floats("w", 2)])
    yield "gather-reals", one("Gather", "x,w", tensors=[floats("w", 2)])
    yield "negative-extent", one("ConstantOfShape", "s", tensors=[ints("s", -3)], inputs=())
    yield "pad-below", one("Pad", "x,s", tensors=[ints("s", -9, 0, 0, 0)])
    yield "pad-count", one("Pad", "x,s", tensors=[ints("s", 1, 1)])
    yield "depth-block", one("DepthToSpace", inputs=shaped(1, 4, 2, 2), blocksize=0)
    yield "depth-channels", one("DepthToSpace", inputs=shaped(1, 6, 2, 2), blocksize=2)
    yield "einsum", one("Einsum", equation="ij->k")
    yield "resize-scale", one("Resize", "x,,s", inputs=shaped(1, 1, 4, 4),
                              tensors=[tensor("s", (4,), raw=struct.pack("<4f", 1, 1, 0, -2))])
    yield "cast-99", one("Cast", to=99)
    yield "cast-string", one("Cast", to=8)
    yield "flatten-axis", one("Flatten", axis=-9)
    yield "one-hot", one("OneHot", "x,d,v", inputs=shaped(3, dtype=I64), tensors=[ints("d", -4), floats("v", 2)])
    yield "range-endless", one("Range", "a,b,c", inputs=(), tensors=[
        tensor(n, (), F32, struct.pack("<f", v)) for n, v in (("a", 0), ("b", float("inf")), ("c", 1))])
    yield "range-nothing", one("Range", "a,b,c", inputs=(), tensors=[
        tensor(n, (), F32, struct.pack("<f", v)) for n, v in (("a", 0), ("b", float("nan")), ("c", 1))])


def nested_files():
    """Nodes without what makes them nodes, graphs in nodes, functions."""
    body = graph([node("Relu", "x", "b", "inner")], (), [port("b")])
    yes = tensor("c", (), 9, b"\1")

    def call(kind, ins="", more=b"", tensors=(yes,)):
        return model(graph([node(kind, ins, "y", "n", raw=more)], [X], [Y], tensors))

    def function(name, calls, times=2):
        """name(x) calls another one, one call behind the other."""
        nodes = [node(calls, "v%d" % i, "v%d" % (i + 1), domain="f" if calls != "Relu" else "") for i in range(times)]
        return msg(25, msg(1, name) + msg(4, "v0") + msg(5, "v%d" % times) + b"".join(msg(7, n) for n in nodes) +
                   msg(9, msg(1, "") + num(2, 17)) + msg(9, msg(1, "f") + num(2, 1)) + msg(10, "f"))

    def calling(*functions):
        g = graph([node("f0", "x", "y", "n", "f")], [X], [Y])
        return model(g, more=msg(8, msg(1, "f") + num(2, 1)) + b"".join(functions))

    yield "node-kindless", model(graph([msg(1, "x") + msg(2, "y") + msg(3, "n")], [X], [Y]))
    yield "port-typeless", model(graph([node("Relu", "x", "y", "n")], [msg(1, "x")], [Y]))
    yield "constant-none", call("Constant")
    yield "if-branch", call("If", "c", msg(5, msg(1, "else_branch") + msg(6, body) + num(20, 5)))
    yield "if-condition", call("If", "x", msg(5, msg(1, "then_branch") + msg(6, body) + num(20, 5)) +
                               msg(5, msg(1, "else_branch") + msg(6, body) + num(20, 5)))
    yield "loop-inputs", call("Loop", "t,c", msg(5, msg(1, "body") + msg(6, body) + num(20, 5)),
                              (yes, tensor("t", (), I64, struct.pack("<q", 4))))
    yield "function-cycle", calling(function("f0", "f1"), function("f1", "f0"))
    yield "function-bomb", calling(*[function("f%d" % i, "f%d" % (i + 1) if i < 20 else "Relu", 9) for i in range(21)])
    yield "loop-bomb", call("Loop", "t,c,x", msg(5, msg(1, "body") + msg(6, graph(
        [node("Identity", "go", "g2"), node("Mul", "s,s", "s2")],
        [port("i", I64), port("go", 9), port("s")], [port("g2", 9), port("s2")])) + num(20, 5)),
        (yes, tensor("t", (), I64, struct.pack("<q", 1 << 62))))
    yield "loop-bomb-cells", model(graph([node("Loop", "t,,x", "y", "n", raw=msg(5, msg(1, "body") + msg(6, graph(
        [node("Identity", "go", "g2"), node("LSTM", "s,w,r", "l", hidden_size=1), node("Squeeze", "l,one", "s2")],
        [port("i", I64), port("go", 9), port("s", dims=(9, 1, 1))],
        [port("g2", 9), port("s2", dims=(9, 1, 1))])) + num(20, 5)))],
        [port("x", dims=(9, 1, 1))], [port("y", dims=(9, 1, 1))],
        [tensor("t", (), I64, struct.pack("<q", 1 << 40)), ints("one", 1), floats("w", 1, 4, 1), floats("r", 1, 4, 1)]))
    yield "loop-bomb-idle", call("Loop", "t,c,x", msg(5, msg(1, "body") + msg(6, graph(  # a body without a step
        [], [port("i", I64), port("go", 9), port("s")], [port("go", 9), port("s")])) + num(20, 5)),
        (yes, tensor("t", (), I64, struct.pack("<q", 1 << 62))))


def tree_files():
    """Of one tree of a branch and two leaves, in which something is not as it should be."""
    def ensemble(**changes):
        lists = dict(nodes_treeids=[0, 0, 0], nodes_nodeids=[0, 1, 2], nodes_featureids=[1, 0, 0],
                     nodes_values=[0.5, 0.0, 0.0], nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"],
                     nodes_truenodeids=[1, 0, 0], nodes_falsenodeids=[2, 0, 0],
                     target_treeids=[0, 0], target_nodeids=[1, 2], target_ids=[0, 0],
                     target_weights=[1.0, 2.0], n_targets=1)
        lists.update(changes)
        attrs = {k: v if isinstance(v, (int, str)) or isinstance(v[0], int) else
                 b"".join(varint(7 << 3 | 5) + struct.pack("<f", x) for x in v) + num(20, 6)
                 if isinstance(v[0], float) else
                 b"".join(msg(9, x) for x in v) + num(20, 8) for k, v in lists.items()}
        step = node("TreeEnsembleRegressor", "x", "y", "n", "ai.onnx.ml", **attrs)
        return model(graph([step], [X], [Y]), more=msg(8, msg(1, "ai.onnx.ml") + num(2, 3)))

    yield "tree-lists", ensemble(nodes_values=[0.5, 0.0])
    yield "tree-mode", ensemble(nodes_modes=["BRANCH_LEQ", "LEAF", "TWIG"])
    yield "tree-nowhere", ensemble(nodes_truenodeids=[7, 0, 0])
    yield "tree-circle", ensemble(nodes_modes=["BRANCH_LEQ", "BRANCH_LT", "LEAF"], nodes_falsenodeids=[2, 2, 0])
    yield "tree-shared", ensemble(nodes_modes=["BRANCH_LEQ", "BRANCH_LT", "LEAF"], nodes_truenodeids=[1, 2, 0],
                                  nodes_falsenodeids=[1, 2, 0])
    yield "tree-twice", ensemble(nodes_nodeids=[0, 1, 1])
    yield "tree-feature", ensemble(nodes_featureids=[3, 0, 0])
    yield "tree-weight", ensemble(target_nodeids=[1, 9])
    yield "tree-target", ensemble(target_ids=[0, 1])
    yield "tree-targets", ensemble(n_targets=1 << 40)
    yield "tree-base", ensemble(base_values=[1.0, 2.0])
    yield "tree-post", ensemble(post_transform="SIGMOID")
    deep = 1 << 15
    yield "tree-deep", ensemble(
        nodes_treeids=[0] * (2 * deep + 1), nodes_nodeids=list(range(2 * deep + 1)),
        nodes_featureids=[0] * (2 * deep + 1),
        nodes_values=[0.5] * (2 * deep + 1), nodes_modes=["BRANCH_LEQ", "LEAF"] * deep + ["LEAF"],
        nodes_truenodeids=[i + 2 for i in range(2 * deep + 1)], nodes_falsenodeids=[i + 1 for i in range(2 * deep + 1)])


def onnx_files():
    good = RELU
    yield "empty", b""
    yield "text", b"this is no model\n"
    yield "zero-field", b"\x00\x01"
    yield "truncated", good[: len(good) - 7]
    yield "length", num(1, 8) + varint(7 << 3 | 2) + varint(0xFFFFFFFF) + b"ab"
    yield "varint", num(1, 8) + varint(5 << 3) + b"\xff" * 11
    yield "group", num(1, 8) + varint(7 << 3 | 3)
    yield "depth", nested(4000)
    yield "no-graph", num(1, 8) + msg(8, msg(1, "") + num(2, 17))
    yield "no-opset", model(graph([node("Relu", "x", "y", "n")], [X], [Y]), opset=0)
    yield "opset-99", model(graph([node("Relu", "x", "y", "n")], [X], [Y]), opset=99)
    yield "opset-twice", good + msg(8, msg(1, "") + num(2, 13))
    yield "no-output", model(graph([node("Relu", "x", "y", "n")], [X]))
    yield "unknown-output", model(graph([node("Relu", "x", "z", "n")], [X], [Y]))
    yield "cycle", model(graph([node("Add", "x,b", "a", "n"), node("Relu", "a", "b", "m")], [X], [port("b")]))
    yield "self", one("Add", "x,y")
    yield "undefined", one("Add", "x,nowhere")
    yield "value-twice", model(graph([node("Relu", "x", "y", "n"), node("Abs", "x", "y", "m")], [X], [Y]))
    yield "input-twice", model(graph([node("Relu", "x", "y", "n")], [X, X], [Y]))
    yield "held-twice", held(floats("w", 2), floats("w", 2))
    yield "name-long", model(graph([node("Relu", "x", "y", "n" * 70000)], [X], [Y]))
    yield "name-control", one("Relu", "x\x1b[31m\x07")
    yield "name-utf8", one("Relu", raw=msg(6, "") + msg(1, b"\xff\xfe"))
    yield "operators", model(graph([node("Nope", "x", "a", "n"), node("Foo", "a", "b", "m", "com.acme"),
                                    node("Nope", "b", "y", "k")], [X], [Y]))
    yield "arity", one("Conv")
    yield "arity-more", one("Relu", "x,x,x")
    yield "attribute-missing", one("Cast")
    yield "attribute-kind", one("Softmax", axis="last")
    yield "attribute-twice", one("Softmax", raw=msg(5, attribute("axis", 0)) + msg(5, attribute("axis", 1)))
    yield "attribute-unknown", one("Relu", slope=1)
    conv = dict(inputs=(port("x", dims=(1, 4, 8, 8)),), tensors=(floats("w", 4, 4, 3, 3),))
    yield "stride-zero", one("Conv", "x,w", strides=[0, 1], **conv)
    yield "dilations-rank", one("Conv", "x,w", dilations=[1, 1, 1], **conv)
    yield "group-divide", one("Conv", "x,w", group=3, **conv)
    yield "group-zero", one("Conv", "x,w", group=0, **conv)
    yield "kernel-large", one("MaxPool", kernel_shape=[10, 10], inputs=conv["inputs"])
    yield "pads-negative", one("Conv", "x,w", pads=[-9, -9, -9, -9], **conv)
    yield "perm", one("Transpose", perm=[0, 0])
    yield "axis", one("Softmax", axis=7)
    yield "axis-lowest", one("Softmax", axis=-(1 << 63))
    yield "concat", one("Concat", "x,w", tensors=[floats("w", 3, 4)], axis=0)
    yield "broadcast", one("Add", "x,w", tensors=[floats("w", 5)])
    yield "matmul", one("MatMul", "x,w", tensors=[floats("w", 5, 2)])
    yield "reshape", one("Reshape", "x,s", tensors=[ints("s", 5, -1)])
    yield "reshape-two", one("Reshape", "x,s", tensors=[ints("s", -1, -1)])
    yield "gather", one("Gather", "x,i", tensors=[ints("i", 11)])
    yield "split", one("Split", "x,s", tensors=[ints("s", 1, 7)])
    yield "dtype-mixed", one("Add", "x,w", tensors=[tensor("w", (3,), F64, b"\0" * 24)])
    yield "dtype-wrong", one("And", "x,x")
    yield "dtype-99", held(tensor("w", (2,), 99, b"\0" * 8))
    yield "dtype-none", held(tensor("w", (2,), 0, b"\0" * 8))
    yield "port-dtype", one("Relu", inputs=(port("x", 99, (2, 3)),))
    yield "port-string", one("Relu", inputs=(port("x", 8, (2, 3)),))
    yield "port-complex", one("Relu", inputs=(port("x", 14, (2, 3)),))
    yield "rank", held(floats("w", *[1] * 40))
    yield "dim-negative", held(tensor("w", (-5,), raw=b""))
    yield "dim-negative-input", one("Relu", inputs=(port("x", dims=(-5, 2)),))
    yield "dim-overflow", held(tensor("w", (1 << 31, 1 << 31, 1 << 31), raw=b"\0" * 4))
    yield "dim-huge-input", one("Relu", inputs=(port("x", dims=(1 << 40, 1 << 40)),))
    yield "payload-short", held(tensor("w", (2,), raw=b"\0" * 7))
    yield "payload-long", held(tensor("w", (2,), raw=b"\0" * 9))
    yield "payload-both", held(tensor("w", (2,), raw=b"\0" * 8, more=msg(4, b"\0" * 8)))
    yield "payload-none", held(tensor("w", (2,)))
    big = 1 << 26
    yield "bomb-constant", one("ConstantOfShape", "s", tensors=[ints("s", big, 4096)], inputs=())
    yield "bomb-expand", one("Expand", "w,s", tensors=[floats("w", 1), ints("s", big, 4096)], inputs=())
    yield "bomb-tile", one("Tile", "x,s", tensors=[ints("s", big, 4096)])
    yield "bomb-pad", one("Pad", "x,s", tensors=[ints("s", 0, 0, big, big)])
    yield "bomb-overflow", one("ConstantOfShape", "s", tensors=[ints("s", *[1 << 40] * 4)], inputs=())
    yield "bomb-range", one("Range", "a,b,c", inputs=(), tensors=[
        tensor(n, (), I64, struct.pack("<q", v)) for n, v in (("a", 0), ("b", 1 << 62), ("c", 1))])
    mel = [[tensor(n, (), I64, struct.pack("<q", v)) for n, v in zip("abc", sizes)] +
           [tensor(n, (), F32, struct.pack("<f", v)) for n, v in (("d", low), ("e", 4000))]
           for sizes, low in (((1 << 16, 1 << 20, 8000), 0), ((6, 16, 8000), 1e30))]
    yield "bomb-mel", one("MelWeightMatrix", "a,b,c,d,e", inputs=(), tensors=mel[0])
    yield "mel-beyond", one("MelWeightMatrix", "a,b,c,d,e", inputs=(), tensors=mel[1])
    yield "deconv-overflow", one("ConvTranspose", "x,w", inputs=(port("x", dims=(1, 1, 4)),), strides=[1 << 62],
                                 tensors=[floats("w", 1, 1, 3)], output_shape=[4])
    yield "bomb-recurrent", one("RNN", "x,w,w", inputs=(port("x", dims=(1 << 30, 1, 1)),), tensors=[
        tensor("w", (1, 1, 1), raw=b"\0" * 4)], hidden_size=1)
    yield "bomb-linear", model(graph([node("LinearAttention", "x,x,x", "y", "n", q_num_heads=1, kv_num_heads=1,
                                           update_rule="linear")], [port("x", dims=(1, 1 << 30, 1))], [Y]), opset=27)
    yield "range-zero", one("Range", "a,b,c", inputs=(), tensors=[
        tensor(n, (), I64, struct.pack("<q", v)) for n, v in (("a", 0), ("b", 5), ("c", 0))])
    yield "memory", one("Expand", "x,s", tensors=[ints("s", 1 << 28, 2, 3)])
    yield "division-zero", model(graph(
        [node("Div", "a,b", "t", "d"), node("Reshape", "x,t", "y", "n")], [X], [Y], [ints("a", 6), ints("b", 0)]))
    yield from operator_files()
    yield from nested_files()
    yield "external-parent", held(external("w", "../secret"))
    yield "external-absolute", held(external("w", "/etc/passwd"))
    yield "external-link", held(external("w", "link.bin"))
    yield "external-folder", held(external("w", "."))
    yield "external-pipe", held(external("w", "pipe"))
    yield "external-missing", held(external("w", "gone.bin"))
    yield "external-none", held(external("w", None))
    yield "external-control", held(external("w", "a\x1b[2J"))
    yield "external-short", held(external("w", "eight.bin", offset="4"))
    yield "external-length", held(external("w", "eight.bin", length="5"))
    yield "external-overflow", held(external("w", "eight.bin", offset="9223372036854775807", length="8"))
    yield "external-number", held(external("w", "eight.bin", offset="4x"))


def network(**change):
    d = {"format": "graph/1", "opset": {"": 17}, "inputs": [{"name": "x", "dtype": "f32", "shape": [2, 3]}],
         "outputs": [{"name": "y"}], "nodes": [{"name": "n", "op": "Relu", "in": ["x"], "out": ["y"]}]}
    d.update(change)
    return json.dumps({k: v for k, v in d.items() if v is not None}).encode()


def held_in(offsets, dtype="F32", shape=(2,), **more):
    header = json.dumps(dict({"w": {"dtype": dtype, "shape": list(shape), "data_offsets": offsets}}, **more)).encode()
    return struct.pack("<Q", len(header)) + header


def json_files():
    yield "json-syntax", b'{"format": "graph/1",\n  "opset": }'
    yield "json-cut", network()[:-20]
    yield "json-depth", b'{"format": ' + b"[" * 4000
    yield "json-twice", b'{"format": "graph/1", "format": "graph/1"}'
    yield "json-key", network(nodse=[])
    yield "json-format", network(format="graph/9")
    yield "json-bom", b"\xef\xbb\xbf" + network()
    yield "json-utf16", '{"format": "graph/1"}'.encode("utf-16")
    yield "json-dtype", network(inputs=[{"name": "x", "dtype": "float", "shape": [2]}])
    yield "json-shape", network(inputs=[{"name": "x", "dtype": "f32", "shape": [2, -3]}])
    yield "json-fraction", network(inputs=[{"name": "x", "dtype": "f32", "shape": [2.5]}])
    yield "json-nodes", network(nodes=5)
    yield "json-trailing", network() + b"}"
    yield "json-surrogate", network().replace(b'"n"', b'"\\ud800"')
    yield "json-data", network(constants={"w": {"dtype": "f32", "shape": [3], "data": [1, 2]}})
    yield "json-operator", network(nodes=[{"name": "n", "op": "Rellu", "in": ["x"], "out": ["y"]}])


def more_json_files():
    relu = {"name": "n", "op": "Relu", "in": ["x"], "out": ["y"]}
    yield "json-no-opset", network(opset=None)
    yield "json-no-output", network(outputs=[])
    yield "json-control", network(nodes=[dict(relu, name="a\x1b[31m")])
    yield "json-nan", network().replace(b"[2, 3]", b"[NaN, 3]")
    yield "json-huge", network().replace(b"[2, 3]", b"[1e999, 3]")
    yield "json-attribute", network(nodes=[dict(relu, op="Softmax", attr={"axis": "x"})])
    yield "json-attribute-kind", network(nodes=[dict(relu, op="Softmax", attr={"axis": {"a": 1}})])
    yield "json-order", network(nodes=[dict(relu, **{"in": ["z"]}), {"op": "Abs", "in": ["x"], "out": ["z"]}])
    yield "json-undefined", network(nodes=[dict(relu, **{"in": ["nowhere"]})])
    yield "json-twice-made", network(nodes=[relu, relu])
    yield "json-gone", network(weights={"file": "gone.safetensors"})
    yield "json-sum", network(weights={"file": "good.safetensors", "sha256": "0" * 64})
    yield "json-inline", network(constants={"w": {"dtype": "f32", "shape": [65], "data": [0] * 65}})
    yield "json-inline-word", network(constants={"w": {"dtype": "f32", "shape": [1], "data": ["one"]}})
    yield "json-inline-range", network(constants={"w": {"dtype": "i8", "shape": [1], "data": [300]}})
    yield "json-rank", network(inputs=[{"name": "x", "dtype": "f32", "shape": [1] * 9}])
    yield "json-bounds", network(dims={"b": {"min": 8, "max": 2}},
                                 inputs=[{"name": "x", "dtype": "f32", "shape": ["b", 3]}])


def weights(file="w.safetensors"):
    return network(nodes=[{"name": "n", "op": "Add", "in": ["x", "w"], "out": ["y"]}], weights={"file": file},
                   inputs=[{"name": "x", "dtype": "f32", "shape": [2]}])


def weight_files():
    data = b"\0" * 8
    yield "st-empty", b""
    yield "st-header", struct.pack("<Q", 1 << 40) + b"{}"
    yield "st-brace", struct.pack("<Q", 2) + b"[]"
    yield "st-json", struct.pack("<Q", 3) + b"{x}"
    yield "st-reversed", held_in([8, 0]) + data
    yield "st-beyond", held_in([0, 8]) + data[:4]
    yield "st-hole", held_in([8, 16]) + data * 2
    yield "st-trailing", held_in([0, 8]) + data + b"x"
    yield "st-overlap", held_in([0, 8], v={"dtype": "F32", "shape": [2], "data_offsets": [4, 12]}) + data + b"\0" * 4
    yield "st-size", held_in([0, 8], shape=(3,)) + data
    yield "st-dtype", held_in([0, 8], dtype="F33") + data
    yield "st-negative", held_in([0, 8], shape=(-2,)) + data
    yield "st-overflow", held_in([0, 8], shape=(1 << 40, 1 << 40)) + data
    yield "st-metadata", held_in([0, 8], __metadata__={"a": 1}) + data
    h = b'{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'
    yield "st-twice", struct.pack("<Q", len(h)) + h + data


def array(header, data=b"\0" * 24, magic=b"\x93NUMPY\x01\x00"):
    return magic + struct.pack("<H", len(header)) + header.encode() + data


def array_files():
    def fields(descr="'<f4'", order="False", shape="(2, 3)"):
        return "{'descr': %s, 'fortran_order': %s, 'shape': %s}" % (descr, order, shape)
    yield "npy-empty", b""
    yield "npy-magic", array(fields(), magic=b"\x93NUMPX\x01\x00")
    yield "npy-version", array(fields(), magic=b"\x93NUMPY\x09\x00")
    yield "npy-header", array("import os")
    yield "npy-object", array(fields("'|O'"))
    yield "npy-struct", array(fields("[('a', '<f4')]"))
    yield "npy-cut", array(fields(), b"\0" * 23)
    yield "npy-trailing", array(fields(), b"\0" * 25)
    yield "npy-negative", array(fields(shape="(-2, 3)"))
    yield "npy-overflow", array(fields(shape="(%d, %d)" % (1 << 40, 1 << 40)))
    yield "npy-rank", array(fields(shape="(3,)"), b"\0" * 12)
    yield "npy-endless", b"\x93NUMPY\x02\x00" + struct.pack("<I", 0xFFFFFFFF) + b"{"
    yield "npy-fraction", array(fields(shape="(2.5, 3)"))
    yield "npy-key", array("{'descr': '<f4', 'shape': (2, 3)}")
    yield "npy-code", array("{'descr': __import__('os').system('true'), 'fortran_order': False, 'shape': (2, 3)}")
    yield "npy-ranks", array(fields(shape="(" + "1, " * 40 + ")"), b"\0" * 4)
    yield "npy-dtype", array(fields("'<i8'"), b"\0" * 48)


def schema(rule=None, **more):
    return json.dumps(dict({"format": "tiling/1", "name": "s"}, **more,
                           **({"rules": [dict({"match": {"op": "matmul"}}, **rule)]} if rule else {}))).encode()


def schema_files():
    yield "schema-format", schema(format="tiling/2")
    yield "schema-key", schema(ruels=[])
    yield "schema-rule", schema({"loosp": []})
    yield "schema-zero", schema({"loops": ["m/0 n k"]})
    yield "schema-negative", schema({"loops": ["m/-4 n k"]})
    yield "schema-letters", schema({"loops": ["m/four n k"]})
    yield "schema-axis", schema({"loops": ["q m n k"]})
    yield "schema-twice", schema({"loops": ["m m n k"]})
    yield "schema-role", schema({"loops": ["m@gpu n k"]})
    yield "schema-fold", schema({"loops": ["k/64 k/8@core m n k"]})
    yield "schema-base", schema(extends="nowhere")
    yield "schema-escape", schema(extends="../../etc/passwd")
    yield "schema-operator", json.dumps({"format": "tiling/1", "name": "s", "rules": [
        {"match": {"op": "matmull"}, "loops": ["m n k"]}]}).encode()
    yield "schema-empty", b""
    yield "schema-list", b"[]"
    yield "schema-rules", json.dumps({"format": "tiling/1", "name": "s", "rules": [{}] * 2000}).encode()
    yield "schema-itself", schema(extends="schema-itself.json")
    yield "schema-gone", schema(extends="gone.json")
    yield "schema-override", schema(override={"/rules/9/loops": ["m n k"]})
    yield "schema-dims", json.dumps({"format": "tiling/1", "name": "s", "rules": [
        {"match": {"op": "matmul", "dims": {"n": "=>4"}}, "loops": ["m n k"]}]}).encode()
    yield "schema-staging", schema({"loops": ["m n k+z"]})
    yield "schema-layout", schema({"loops": ["m n k"], "layout": {"b": "q k n"}})
    yield "schema-long", schema({"loops": ["m/2 " * 500 + "m n k"]})
    yield "schema-huge", schema({"loops": ["m/99999999999999999999 n k"]})


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)


def main(folder):
    os.chdir(folder)
    for name, data in [*onnx_files(), *tree_files()]:
        write(name + ".onnx", data)
    for name, data in [*json_files(), *more_json_files()]:
        write(name + ".json", data)
    for name, data in weight_files():
        os.mkdir(name)
        write(name + "/w.safetensors", data)
        write(name + "/graph.json", weights())
    os.mkdir("json-outside")
    write("json-outside/graph.json", weights("../eight.bin"))
    for name, data in array_files():
        write(name + ".npy", data)
    for name, data in schema_files():
        write(name + ".json", data)
    write("relu.onnx", RELU)
    write("good.safetensors", held_in([0, 8]) + b"\0" * 8)
    write("product.onnx", model(graph([node("MatMul", "x,w", "y", "n")], [port("x", dims=(32, 48))], [Y],
                                      [floats("w", 48, 64)])))
    write("eight.bin", b"\0" * 8)
    os.symlink("/etc/passwd", "link.bin")
    os.mkfifo("pipe")


if __name__ == "__main__":
    main(sys.argv[1])
