"""Operators of com.microsoft against ONNX Runtime: python3 contrib.py TESSERA WORK TARGET.... Writes a file of all
cases, which ONNX Runtime runs without its optimizations, and compares every output. Needs onnx and onnxruntime."""
import os
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

rng = np.random.default_rng(0)


def f(*shape, dtype=np.float32, scale=1.0):
    return (rng.standard_normal(shape) * scale).astype(dtype)


def q(*shape, dtype=np.uint8, below=None, least=None):
    info = np.iinfo(dtype)
    return rng.integers(info.min if least is None else least, info.max + 1 if below is None else below,
                        shape).astype(dtype)


def s(v):
    return np.float32(v)


def u(v):
    return np.uint8(v)


class Case:
    """operands: arrays, None where left out; `runs`: how many of the first are inputs of the run, the others
    constants; `off`: how far results may be from ONNX Runtime's; `like`: a case of the same value that it runs, where
    this one is of other providers than that of the processor."""

    def __init__(self, op, operands, outs=1, runs=1, off=1e-5, domain="com.microsoft", name=None, like=None,
                 **attributes):
        self.op, self.operands, self.outs, self.runs, self.off = op, operands, outs, runs, off
        self.domain, self.attributes, self.name, self.like = domain, attributes, name or op, like


def fused():
    x, w = f(2, 5, 8), f(8)
    image = f(2, 4, 6, 5)
    yield Case("FusedMatMul", [f(2, 3, 4), f(2, 5, 4)], transB=1, alpha=0.5)
    yield Case("FusedMatMul", [f(3, 2, 4), f(2, 4, 5)], transBatchA=1, name="FusedMatMul batch")
    yield Case("FusedMatMul", [f(2, 4, 3), f(2, 4, 5)], transA=1, name="FusedMatMul left")
    yield Case("FusedMatMul", [f(3, 2, 4), f(5, 2, 4)], transBatchA=1, transBatchB=1, transB=1, name="FusedMatMul both")
    for metric in ("euclidean", "sqeuclidean"):
        yield Case("CDist", [f(5, 3), f(4, 3)], metric=metric, name="CDist " + metric)
    yield Case("TransposeMatMul", [f(4, 3), f(4, 5)], transA=1)
    for activation, numbers in (("Relu", {}), ("LeakyRelu", {"activation_alpha": 0.2}), ("Tanh", {}),
                                ("HardSigmoid", {"activation_alpha": 0.3, "activation_beta": 0.4})):
        yield Case("FusedGemm", [f(3, 4), f(5, 4), f(5)], name="FusedGemm " + activation, transB=1, alpha=0.5, beta=2.0,
                   activation=activation, **numbers)
    for activation, numbers in (("Relu", None), ("Sigmoid", None), ("Tanh", None), ("LeakyRelu", [0.2]),
                                ("Clip", [-0.5, 0.75]), ("HardSigmoid", [0.3, 0.4])):
        more = {"activation_params": numbers} if numbers else {}
        yield Case("FusedConv", [image, f(3, 4, 3, 3), f(3)], name="FusedConv " + activation, pads=[1, 1, 1, 1],
                   activation=activation, **more)
    yield Case("FusedConv", [f(1, 4, 6, 6), f(4, 1, 3, 3), None, f(1, 4, 4, 4)], name="FusedConv sum", group=4,
               activation="Relu")
    yield Case("ConvTransposeWithDynamicPads", [image, f(4, 3, 3, 3), np.array([1, 0, 1, 0]), f(3)], strides=[2, 2])
    yield Case("Gelu", [x])
    yield Case("Trilu", [f(3, 4), np.array(1)], upper=0)
    yield Case("Pad", [f(3, 4), np.array([1, 0, 0, 2]), s(0.5)])
    yield Case("GridSample", [f(1, 2, 4, 4), np.clip(f(1, 3, 3, 2), -1, 1)])
    yield Case("Range", [s(1), s(2.6), s(0.5)], runs=0)
    yield Case("GatherND", [f(3, 4), q(5, 2, dtype=np.int64, least=0, below=3)])
    yield Case("ExpandDims", [f(3, 4), np.array(-1, np.int32)])
    yield Case("Unique", [np.array([3, 1, 3, 2, 1], np.float32)], outs=3, runs=0)
    yield Case("BiasGelu", [x, w])
    yield Case("FastGelu", [x])
    yield Case("FastGelu", [x, w], name="FastGelu bias")
    yield Case("QuickGelu", [x], alpha=1.5)
    yield Case("QuickGelu", [x], name="QuickGelu plain")
    yield Case("SkipLayerNormalization", [x, f(2, 5, 8), f(8), f(8), f(8)], outs=[0, 3], epsilon=1e-5)
    yield Case("SkipLayerNormalization", [x, f(5, 8), f(8)], name="SkipLayerNormalization plain")
    yield Case("SkipSimplifiedLayerNormalization", [x, f(2, 5, 8), f(8)], outs=[0, 3], epsilon=1e-6)
    yield Case("SimplifiedLayerNormalization", [x, f(8)], domain="", epsilon=1e-6, axis=-1, stash_type=1)
    ids = q(2, 5, dtype=np.int32, least=0, below=10)
    tables = [f(10, 8), f(7, 8), f(3, 8), f(8), f(8)]
    yield Case("EmbedLayerNormalization", [ids, q(2, 5, dtype=np.int32, least=0, below=3), *tables,
                                           q(2, 5, dtype=np.int32, least=0, below=2)], outs=2, runs=2)
    yield Case("EmbedLayerNormalization", [ids, None, tables[0], tables[1], None, tables[3], tables[4]],
               outs=2, name="EmbedLayerNormalization plain")

    yield Case("QEmbedLayerNormalization", [ids, None, q(10, 8), q(7, 8), None, q(8), q(8), None, s(0.1), s(0.2), None,
                                            s(0.3),
                                            s(0.4), u(100), u(120), None, u(3), u(5)], outs=2, off=1e-4)


def quantized():
    a, b = q(3, 7), q(7)
    add = [a, s(0.0313711), u(100), b, s(0.0469133), u(7), s(0.0593177), u(120)]
    yield Case("QLinearAdd", add)
    yield Case("QLinearAdd", [q(3, 7, dtype=np.int8), s(0.0313711), np.int8(3), q(3, 7, dtype=np.int8), s(0.0469133),
                              np.int8(-9),
                              s(0.0593177), np.int8(1)], name="QLinearAdd i8")
    yield Case("QLinearMul", add)
    yield Case("QLinearSigmoid", [a, s(0.0531737), u(128), s(0.0039), u(0)])
    yield Case("QLinearLeakyRelu", [a, s(0.0531737), u(128), s(0.0469133), u(30)], alpha=0.1)
    yield Case("QLinearSoftmax", [a, s(0.0531737), u(128), s(0.0039), u(0)], axis=-1, opset=13)
    yield Case("QLinearSoftmax", [q(3, 2, 4, dtype=np.int8), s(0.0531737), np.int8(3), s(0.0039), np.int8(-128)],
               axis=1,
               opset=11, name="QLinearSoftmax flat")
    image = q(2, 3, 6, 5)
    pool = [image, s(0.0531737), u(128), s(0.0469133), u(30)]
    yield Case("QLinearReduceMean", pool, axes=[2, 3], like=Case("QLinearGlobalAveragePool", pool, channels_last=0))
    yield Case("QLinearGlobalAveragePool", pool, channels_last=0)
    yield Case("QLinearGlobalAveragePool", pool, channels_last=1, name="QLinearGlobalAveragePool last")
    yield Case("QLinearAveragePool", pool, kernel_shape=[3, 2], pads=[1, 0, 1, 0], strides=[2, 1])
    yield Case("QLinearAveragePool", pool, kernel_shape=[3, 2], pads=[1, 0, 1, 0], channels_last=1, count_include_pad=1,
               name="QLinearAveragePool last")
    yield Case("QLinearConcat", [s(0.0593177), u(120), a, s(0.0313711), u(100), q(3, 2), s(0.0469133), u(7)], axis=1,
               runs=0)
    yield Case("QLinearWhere", [q(3, 7, below=2).astype(bool), a, s(0.0313711), u(100), b, s(0.0469133), u(7),
                                s(0.0593177), u(120)])
    gemm = [q(3, 5), s(0.0313711), u(100), q(4, 5, dtype=np.int8), f(4, scale=0.01) ** 2 + s(0.001), np.zeros(4,
                                                                                                              np.int8)]
    yield Case("QGemm", [*gemm, q(4, dtype=np.int32, least=-999, below=999), s(0.59), u(120)], transB=1, alpha=1.5)
    yield Case("QGemm", [*gemm, None], transB=1, name="QGemm real")
    yield Case("MatMulIntegerToFloat", [q(2, 3, 5), q(5, 4), s(0.0313711), f(4) ** 2, u(7), q(4), f(4)])
    yield Case("MatMulIntegerToFloat", [q(3, 5), q(5, 4, dtype=np.int8), s(0.0313711), s(0.02)],
               name="MatMulIntegerToFloat plain")
    yield Case("DynamicQuantizeMatMul", [f(2, 3, 5), q(5, 4), f(4) ** 2, q(4), f(4)])
    yield Case("DynamicQuantizeMatMul", [np.zeros((2, 3), np.float32), q(3, 4, dtype=np.int8), s(0.1)],
               name="DynamicQuantizeMatMul zeros")
    yield Case("DynamicQuantizeLinear", [np.zeros(3, np.float32)], outs=3, domain="",
               name="DynamicQuantizeLinear zeros")
    yield Case("QuantizeLinear", [f(3, 4), s(0.0001), np.uint16(32768)])
    yield Case("QuantizeLinear", [f(3, 4), f(4) ** 2 + s(0.1), np.zeros(4, np.int16)], axis=1,
               name="QuantizeLinear axis")
    yield Case("DequantizeLinear", [q(3, 4, dtype=np.uint16), s(0.0001), np.uint16(32768)])
    yield Case("DequantizeLinear", [q(3, 4, dtype=np.int32), f(3) ** 2, np.zeros(3, np.int32)], axis=0, off=1e2,
               name="DequantizeLinear axis")
    yield Case("QLinearConv", [image, s(0.0531737), u(128), q(4, 3, 3, 3, dtype=np.int8), f(4,
                                                                                            scale=0.01) ** 2 + s(0.001),
                               np.zeros(4, np.int8), s(0.47), u(30), q(4, dtype=np.int32, least=-999, below=999)],
               pads=[1, 1, 1, 1])
    yield Case("QLinearConv", [q(2, 6, 5, 3), s(0.0531737), u(128), q(4, 3, 3, 3, dtype=np.int8), s(0.01), np.int8(0),
                               s(0.47),
                               u(30)], channels_last=1, name="QLinearConv last")
    gates = [q(1, 4, 24, dtype=np.int8), q(1, 6, 24, dtype=np.int8), f(1, 48, scale=0.1)]
    yield Case("DynamicQuantizeLSTM", [f(5, 2, 4), *gates, None, None, None, None, np.array([0.004], np.float32),
                                       np.zeros(1, np.int8), np.array([0.004], np.float32), np.zeros(1, np.int8)],
               outs=3, hidden_size=6, off=2e-2)
    yield Case("DynamicQuantizeLSTM", [f(5, 2, 4), q(2, 4, 24), q(2, 6, 24), None, None, None, None, None,
                                       np.full((2, 24), 0.004, np.float32), np.full((2, 24), 128, np.uint8),
                                       np.full((2, 24), 0.003, np.float32), np.full((2, 24), 120, np.uint8)],
               hidden_size=6, direction="bidirectional", off=2e-2, name="DynamicQuantizeLSTM both")


def packed():
    for bits in (2, 4, 8):
        for k in (32, 40):
            blocks, blob = (k + 15) // 16, 16 * bits // 8
            head = [f(2, 3, k), q(5, blocks, blob), f(5, blocks) ** 2]
            about = {"K": k, "N": 5, "bits": bits, "block_size": 16}
            name = f"MatMulNBits {bits} {k}"
            yield Case("MatMulNBits", head, name=name, off=1e-4, **about)
            yield Case("MatMulNBits", [*head, q(5, (blocks * bits + 7) // 8)], name=name + " zeros", off=1e-4, **about)
            if bits == 4:
                yield Case("MatMulNBits", [*head, f(5, blocks, scale=4), None, f(5)], name=name + " real zeros",
                           off=1e-4, **about)
    yield Case("MatMulNBits", [f(3, 32), q(5, 2, 8), f(10) ** 2, None, q(32, dtype=np.int32, least=0, below=2)], K=32,
               N=5, bits=4, block_size=16, off=1e-4, name="MatMulNBits groups")
    for kind, k, n in ((0, 20, 3), (1, 20, 3), (1, 7, 5)):
        yield Case("MatMulBnb4", [f(2, 3, k), q((n * k + 1) // 2), f((n * k + 15) // 16) ** 2], K=k, N=n, block_size=16,
                   quant_type=kind, off=1e-5, name=f"MatMulBnb4 {kind} {k}")
    for bits in (4, 8):
        row = 32 * bits // 8
        rows = [q(2, 3, dtype=np.int64, least=0, below=6), f(6, 2) ** 2]
        for more in ([], [q(6, (2 * bits + 7) // 8)]):
            yield Case("GatherBlockQuantized", [q(6, row), *rows, *more], runs=0, block_size=16, bits=bits,
                       gather_axis=0, quantize_axis=1, name=f"GatherBlockQuantized {bits} {len(more)}")


def i32(*v):
    return np.array(v, np.int32)


def heads():
    x, w, b = f(2, 4, 8), f(8, 24), f(24)
    wide = q(2, 6, dtype=np.int32, least=0, below=2)
    wide[:, 0] = 1
    yield Case("Attention", [x, w, b], num_heads=2)
    yield Case("Attention", [x, w, b], num_heads=2, unidirectional=1, scale=0.3, name="Attention causal")
    yield Case("Attention", [x, f(8, 20), f(20), i32(3, 4)], num_heads=2, qkv_hidden_sizes=[6, 6, 8],
               name="Attention ends")
    yield Case("Attention", [x, w, b, i32(3, 4, 1, 0)], num_heads=2, name="Attention starts")
    yield Case("Attention", [x, w, b, wide[:, :4]], num_heads=2, name="Attention mask", runs=4)
    yield Case("Attention", [x, w, b, wide, f(2, 2, 2, 2, 4)], num_heads=2, unidirectional=1, outs=2,
               name="Attention past")
    yield Case("Attention", [x, w, b, q(2, 4, 4, dtype=np.int32, least=1, below=2)], num_heads=2,
               name="Attention square")
    yield Case("QAttention", [q(2, 4, 8), q(8, 24, dtype=np.int8), b, s(0.01), s(0.02), i32(3, 4), u(120), np.int8(3)],
               num_heads=2)
    yield Case("QAttention", [q(2, 4, 8), q(8, 24, dtype=np.int8), b, s(0.01), f(24, scale=0.1) ** 2, None, u(120),
                              None,
                              f(2, 2, 2, 3, 4)], num_heads=2, unidirectional=1, outs=2, name="QAttention past")
    k, v = f(2, 5, 8), f(2, 5, 12)
    yield Case("MultiHeadAttention", [x, k, v, f(28), None, f(1, 2, 4, 5)], num_heads=2, runs=3)
    yield Case("MultiHeadAttention", [x, k, v, None, wide[:, :5]], num_heads=2, scale=0.2,
               name="MultiHeadAttention mask")
    yield Case("MultiHeadAttention", [x, k, k, None, i32(3, 5)], num_heads=2, name="MultiHeadAttention ends")
    yield Case("MultiHeadAttention", [x, f(2, 4, 8), f(2, 4, 8), None, None, None, f(2, 2, 3, 4), f(2, 2, 3, 4)],
               num_heads=2, unidirectional=1, outs=3, name="MultiHeadAttention past")
    both, whole = f(2, 5, 2, 2, 4), f(2, 4, 2, 3, 4)
    for name, operands in (("packed", [whole]), ("half packed", [x, both])):
        parts = [whole[:, :, :, i].reshape(2, 4, 8) for i in range(3)] if len(operands) == 1 else \
            [x, *(both[:, :, :, i].reshape(2, 5, 8) for i in range(2))]
        yield Case("MultiHeadAttention", operands, num_heads=2, name="MultiHeadAttention " + name,
                   like=Case("MultiHeadAttention", parts, num_heads=2))
    yield Case("MultiHeadAttention", [x, f(2, 2, 5, 4), f(2, 2, 5, 4), f(24)], num_heads=2,
               name="MultiHeadAttention cross")
    tables = [np.cos(f(20, 4)), np.sin(f(20, 4))]
    for interleaved in (0, 1):
        yield Case("RotaryEmbedding", [f(2, 3, 16), q(2, 3, dtype=np.int64, least=0, below=20), *tables],
                   interleaved=interleaved, name=f"RotaryEmbedding {interleaved}")
        yield Case("RotaryEmbedding", [f(2, 2, 3, 8), np.array([4]), *tables], interleaved=interleaved,
                   name=f"RotaryEmbedding one {interleaved}")
        yield Case("RotaryEmbedding", [f(2, 3, 24), np.array([4]), *tables], interleaved=interleaved, num_heads=2,
                   rotary_embedding_dim=8, name=f"RotaryEmbedding part {interleaved}")
    few = {"num_heads": 4, "kv_num_heads": 2}
    wide = [np.cos(f(20, 8)), np.sin(f(20, 8))]
    three = [f(2, 3, 64), f(2, 3, 32), f(2, 3, 32)]
    yield Case("GroupQueryAttention", [*three, None, None, i32(2, 2), np.int32(3)], outs=3, **few)
    yield Case("GroupQueryAttention", [f(1, 3, 64), f(1, 3, 32), f(1, 3, 32), f(1, 2, 5, 16), f(1, 2, 5, 16), i32(7),
                                       np.int32(8), *wide], outs=3,
               do_rotary=1, name="GroupQueryAttention past", **few)
    one = [f(2, 1, 64), f(2, 1, 32), f(2, 1, 32)]
    room = [f(2, 2, 9, 16), f(2, 2, 9, 16)]  # what lies behind a sequence's end, ONNX Runtime does not copy
    for x in room:
        x[0, :, 4:] = x[1, :, 6:] = 0
    yield Case("GroupQueryAttention", [*one, *room, i32(4, 6), np.int32(7), *wide], outs=3, do_rotary=1,
               rotary_interleaved=1, name="GroupQueryAttention room", **few)
    yield Case("GroupQueryAttention", [f(1, 4, 128), None, None, f(1, 2, 6, 16), f(1, 2, 6, 16), i32(9), np.int32(10),
                                       *wide],
               outs=3, do_rotary=1, local_window_size=3, softcap=2.0, scale=0.2,
               name="GroupQueryAttention packed", **few)
    yield Case("GroupQueryAttention", [*one, f(2, 2, 6, 16), f(2, 2, 6, 16), i32(6, 6), np.int32(7), None, None, None,
                                       f(1, 4, 1, 7)], outs=3, name="GroupQueryAttention bias", **few)
    yield Case("GroupQueryAttention", [*one, f(2, 2, 6, 16), f(2, 2, 6, 16), i32(6, 6), np.int32(7)], outs=3,
               smooth_softmax=1,
               name="GroupQueryAttention smooth", **few)
    yield Case("GroupQueryAttention", [*three, None, None, i32(2, 2), np.int32(3), None, None, None, None, f(4)],
               outs=3,
               name="GroupQueryAttention sink", **few)


FAMILIES = {"fused": fused, "quantized": quantized, "packed": packed, "heads": heads}


def model(cases):
    """A model of all cases; what runs need; its outputs by case."""
    nodes, inputs, constants, outputs, feeds, by = [], [], [], [], {}, []
    for i, c in enumerate(cases):
        names, outs = [], []
        for k, x in enumerate(c.operands):
            name = "" if x is None else f"c{i}.{k}"
            names.append(name)
            if x is None:
                continue
            x = np.asarray(x)
            if k < c.runs:
                inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape))
                feeds[name] = x
            else:
                constants.append(numpy_helper.from_array(x, name))
        wanted = c.outs if isinstance(c.outs, list) else list(range(c.outs))
        for k in range(max(wanted) + 1):
            outs.append(f"y{i}.{k}" if k in wanted else "")
        nodes.append(helper.make_node(c.op, names, outs, domain=c.domain, **c.attributes))
        outputs += [onnx.ValueInfoProto(name=o) for o in outs if o]
        by += [(o, c) for o in outs if o]
    graph = helper.make_graph(nodes, "contrib", inputs, outputs, constants)
    return (helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft",
                                                                                                     1)],
                              ir_version=8), feeds, by)


def typed(m, session):
    """The file with its outputs' types, as ONNX Runtime finds them."""
    kinds = {"float": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9,
             "float16": 10,
             "uint32": 12}
    for o, found in zip(m.graph.output, session.get_outputs()):
        o.type.tensor_type.elem_type = kinds[found.type[7:-1]]
    return m


def expected(m, feeds):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    session = onnxruntime.InferenceSession(m.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, feeds))), typed(m, session)


def run(tessera, work, path, feeds, target):
    folder = os.path.join(work, "out")
    command = [tessera, "run", path, "--out", folder, "--target", target]
    for i, (name, x) in enumerate(feeds.items()):
        np.save(os.path.join(work, f"in{i}.npy"), x)
        command += ["--in", f"{name}={os.path.join(work, f'in{i}.npy')}"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout, folder


def differs(got, want, off):
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{list(got.shape)}, expected {want.dtype}{list(want.shape)}"
    apart = np.abs(got.astype(np.float64) - want.astype(np.float64))
    far = apart > (off if want.dtype.kind in "iu" and off >= 1 else 0 if want.dtype.kind in "iub" else
                   off * (1 + np.abs(want.astype(np.float64))))
    if far.any():
        at = tuple(int(i) for i in np.argwhere(far)[0])
        return f"{int(far.sum())} of {got.size} differ, first at {at}: {got[at]}, expected {want[at]}"
    return None


def check(tessera, work, label, cases, targets):
    """How many are wrong. Where a file of all does not run, each by itself."""
    m, feeds, by = model(cases)
    try:
        other = model([c.like or c for c in cases])
        want, found = expected(other[0], other[1])
        for to, o in zip(m.graph.output, found.graph.output):
            to.type.CopyFrom(o.type)
    except Exception as reason:  # an operator that this version does not have, or refuses
        if len(cases) > 1:
            return sum(check(tessera, work, f"{label} {c.name}", [c], targets) for c in cases)
        print(f"{label}: ONNX Runtime does not run it: {str(reason)[:300]}")
        return 0
    path, bad = os.path.join(work, "m.onnx"), 0
    onnx.save(m, path)
    for target in targets:
        code, said, folder = run(tessera, work, path, feeds, target)
        if code and len(cases) > 1:
            return sum(check(tessera, work, f"{label} {c.name}", [c], targets) for c in cases)
        if code:
            print(f"{label} on {target}: {said}")
            return 1
        for name, c in by:
            wrong = differs(np.load(os.path.join(folder, name + ".npy")), want[name], c.off)
            if wrong:
                bad += 1
                print(f"{label} {c.name} {name} on {target}: {wrong}")
    return bad


def unnamed():
    """Operators that this version of ONNX Runtime has, and that are neither served nor left out with a reason"""
    from onnxruntime.capi import onnxruntime_pybind11_state as state
    past = {"Affine", "Crop", "DynamicSlice", "GRUUnit", "GivenTensorFill", "ImageScaler", "MemcpyFromHost",
            "MemcpyToHost", "ParametricSoftplus", "Scale", "ScaledTanh"}  # of no release of the standard
    with open(os.path.join(os.environ["SOURCE"], "docs/operators.md")) as file:
        rows = [line.split(" | ") for line in file if line.startswith("| ")]
    served, left = {row[0][2:] for row in rows}, {(row[0][2:], kind) for row in rows for kind in row[1].split()}
    for domain, kind in sorted({(d.domain, d.name) for d in state.get_all_operator_schema()}):
        if kind in past or kind.endswith("_TRT") or ".training" in domain or (domain, "\\*") in left:
            continue
        if (f"{domain}.{kind}" if domain else kind) not in served and (domain or "ai.onnx", kind) not in left:
            yield f"{domain} {kind}"


def main():
    tessera, work, targets = sys.argv[1], sys.argv[2], sys.argv[3:]
    bad = n = 0
    for label, family in FAMILIES.items():
        cases = list(family())
        n += len(cases)
        bad += check(tessera, work, label, cases, targets)
    for kind in unnamed():
        bad += 1
        print(f"{kind} is in no row of docs/operators.md")
    print(f"{n} cases, {bad} outputs not as ONNX Runtime's")
    return 1 if bad or n < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
