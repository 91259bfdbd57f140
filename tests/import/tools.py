"""Files as the usual tools write them load and give what ONNX Runtime gives: python3 tools.py TESSERA WORK [NAME...].
Fifteen small models (tools_models.py) go through shape inference, simplifiers, optimizers and quantizers; each file is
run here and in ONNX Runtime without its optimizations. Needs onnx and onnxruntime; other tools where they are there."""
import contextlib
import io
import logging
import os
import sys

import numpy as np
import onnx
import onnx.version_converter
import onnxruntime as ort
from onnxruntime.quantization import (CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static)

from contrib import expected, run
from tools_models import models

logging.disable(logging.ERROR)


class Once(CalibrationDataReader):
    def __init__(self, feeds):
        self.left = [feeds] * 2

    def get_next(self):
        return self.left.pop() if self.left else None


def inferred(source, to, feeds):
    onnx.shape_inference.infer_shapes_path(source, to, data_prop=True)


def simplified(source, to, feeds):
    import onnxsim
    onnx.save(onnxsim.simplify(onnx.load(source))[0], to)


def slimmed(source, to, feeds):
    import onnxslim
    onnxslim.slim(source, to)


def optimized(level):
    def write(source, to, feeds):
        options = ort.SessionOptions()
        options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, "ORT_ENABLE_" + level)
        options.optimized_model_filepath, options.log_severity_level = to, 3
        ort.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    return write


def transformers(kind, half=False):
    def write(source, to, feeds):
        from onnxruntime.transformers import optimizer
        m = optimizer.optimize_model(source, model_type=kind, num_heads=4, hidden_size=32, opt_level=0)
        if half:
            m.convert_float_to_float16(keep_io_types=True)
        m.save_model_to_file(to)
    return write


def dynamic(weights, per_channel=False):
    def write(source, to, feeds):
        quantize_dynamic(source, to, weight_type=weights, per_channel=per_channel,
                         extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT})
    return write


def prepared(source, to, feeds):
    from onnxruntime.quantization.shape_inference import quant_pre_process
    quant_pre_process(source, to)


def newer(source, to, feeds):
    onnx.save(onnx.version_converter.convert_version(onnx.load(source), 21), to)


def static(form, activations, weights, per_channel=False, **more):
    def write(source, to, feeds):
        quantize_static(source, to, Once(feeds), quant_format=form, activation_type=activations, weight_type=weights,
                        per_channel=per_channel, **more)
    return write


def few_bits(form, symmetric, bits=4):
    def write(source, to, feeds):
        from onnxruntime.quantization.matmul_nbits_quantizer import DefaultWeightOnlyQuantConfig, MatMulNBitsQuantizer
        how = DefaultWeightOnlyQuantConfig(block_size=16, is_symmetric=symmetric, quant_format=form, bits=bits)
        q = MatMulNBitsQuantizer(onnx.load(source), algo_config=how)
        q.process()
        onnx.save(q.model.model, to)
    return write


def half(source, to, feeds):
    from onnxruntime.transformers.float16 import convert_float_to_float16
    onnx.save(convert_float_to_float16(onnx.load(source), keep_io_types=True), to)


def then(*steps):
    def write(source, to, feeds):
        for i, step in enumerate(steps):
            step(source if i == 0 else f"{to}.{i - 1}", to if i + 1 == len(steps) else f"{to}.{i}", feeds)
    return write


QDQ, QOP = QuantFormat.QDQ, QuantFormat.QOperator
U8, I8, U16, I16 = QuantType.QUInt8, QuantType.QInt8, QuantType.QUInt16, QuantType.QInt16
BASIC, EXTENDED, ALL = (optimized(level) for level in ("BASIC", "EXTENDED", "ALL"))
TRANSFORMERS = {"bert": "bert", "vit": "vit", "gpt2": "gpt2", "llama": "gpt2", "t5": "t5", "unet": "unet"}
# what writes it, and how far a result may be off, as a share of the largest
TOOLS = {
    "as it is": (lambda source, to, feeds: onnx.save(onnx.load(source), to), 1e-5),
    "infer_shapes": (inferred, 1e-5), "onnxsim": (simplified, 1e-5), "onnxslim": (slimmed, 1e-5),
    "onnxsim, extended": (then(simplified, EXTENDED), 1e-5),
    "ort basic": (BASIC, 1e-5), "ort extended": (EXTENDED, 1e-5), "ort all": (ALL, 1e-5),
    "dynamic i8": (dynamic(I8), 3e-2), "dynamic u8 per channel": (dynamic(U8, True), 3e-2),
    "dynamic i8, extended": (then(dynamic(I8), EXTENDED), 3e-2),
    "static qdq u8": (static(QDQ, U8, U8), 3e-2), "static qdq i8 per channel": (static(QDQ, I8, I8, True), 3e-2),
    "static qdq u8, extended": (then(static(QDQ, U8, I8), EXTENDED), 3e-2),
    "static qdq u8, all": (then(static(QDQ, U8, I8), ALL), 3e-2),
    "static qdq u16": (static(QDQ, U16, I8), 3e-2), "static qdq i16": (static(QDQ, I16, I16), 3e-2),
    "static qoperator u8": (static(QOP, U8, U8), 3e-2), "static qoperator i8 per channel": (static(QOP, U8, I8, True),
                                                                                            3e-2),
    "static qoperator, extended": (then(static(QOP, U8, I8), EXTENDED), 3e-2),
    "4 bits": (few_bits(QOP, True), 1e-4), "4 bits, zeros": (few_bits(QOP, False), 1e-4),
    "8 bits": (few_bits(QOP, False, 8), 1e-4), "4 bits qdq": (then(newer, few_bits(QDQ, True)), 1e-4),
    "4 bits qdq, zeros": (then(newer, few_bits(QDQ, False)), 1e-4), "halves": (half, 1e-2),
}


def tools(name):
    """Those for a model: the optimizer of transformers knows some kinds."""
    all = dict(TOOLS)
    if name in TRANSFORMERS:
        kind = TRANSFORMERS[name]
        all["transformers"] = (transformers(kind), 1e-4)
        all["onnxsim, transformers"] = (then(simplified, transformers(kind)), 1e-4)
        all["transformers, dynamic i8"] = (then(transformers(kind), dynamic(I8)), 3e-2)
        all["transformers, static qoperator"] = (then(transformers(kind), prepared, static(QOP, U8, I8)), 3e-2)
        all["transformers, halves"] = (transformers(kind, True), 1e-2)
    return all


def written(write, source, to, feeds):
    """Whether the tool writes a file that ONNX Runtime runs; what that gives."""
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            write(source, to, feeds)
            return expected(onnx.load(to), feeds)[0], None
    except Exception as reason:
        return None, f"{type(reason).__name__}: {str(reason).strip().splitlines()[0][:160] if str(reason) else ''}"


def far(got, want):
    largest = np.abs(want.astype(np.float64)).max() or 1
    return np.abs(got.astype(np.float64) - want).max() / largest if got.shape == want.shape else np.inf


def check(tessera, work, label, path, feeds, want, most):
    code, said, folder = run(tessera, work, path, feeds, "interp")
    nchwc = any(n.domain == "com.microsoft.nchwc" for n in onnx.load(path).graph.node)
    if nchwc and code and "optimize at ORT_ENABLE_EXTENDED or below" in said:
        return "refused"
    if code:
        print(f"{label}: {said.strip()[:600]}")
        return "bad"
    off = far(np.load(os.path.join(folder, "y.npy")), want["y"])
    if off > most or nchwc:
        print(f"{label}: off by {off:.2g} of the largest value, {most:g} expected")
        return "bad"
    return "good"


def main():
    tessera, work, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    count = {"good": 0, "bad": 0, "refused": 0, "not written": 0}
    for name, m, feeds in models():
        if names and name not in names:
            continue
        source = os.path.join(work, name + ".onnx")
        onnx.save(m, source)
        for tool, (write, most) in tools(name).items():
            to = os.path.join(work, f"{name}-{tool.replace(' ', '-').replace(',', '')}.onnx")
            want, reason = written(write, source, to, feeds)
            if want is None:
                print(f"{name}, {tool}: not written: {reason}")
            count["not written" if want is None else check(tessera, work, f"{name}, {tool}", to, feeds, want,
                                                           most)] += 1
    print(", ".join(f"{n} {what}" for what, n in count.items()))
    return 1 if count["bad"] or not count["good"] else 0


if __name__ == "__main__":
    sys.exit(main())
