"""same_in_ort.py A.onnx B.onnx SET...: the official checker accepts B, and ONNX Runtime computes with B what it
computes with A, on the inputs of each test data set."""
import sys
import numpy as np, onnx, onnxruntime as ort
from onnx import numpy_helper

ort.set_default_logger_severity(4)
options = ort.SessionOptions()
options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL


def value(path):
    tensor = onnx.TensorProto()
    with open(path, "rb") as f:
        tensor.ParseFromString(f.read())
    return numpy_helper.to_array(tensor)


a, b, *sets = sys.argv[1:]
onnx.checker.check_model(b, full_check=True)
first, second = (ort.InferenceSession(m, options, providers=["CPUExecutionProvider"]) for m in (a, b))
assert [(i.name, i.type) for i in first.get_inputs()] == [(i.name, i.type) for i in second.get_inputs()]
assert [(o.name, o.type) for o in first.get_outputs()] == [(o.name, o.type) for o in second.get_outputs()]
for folder in sets:
    feed = {x.name: value(f"{folder}/input_{i}.pb") for i, x in enumerate(first.get_inputs())}
    for name, want, got in zip([o.name for o in first.get_outputs()], first.run(None, feed), second.run(None, feed)):
        if not np.array_equal(want, got, equal_nan=want.dtype.kind == "f"):
            sys.exit(f"{b}: output {name} differs in {folder}")
