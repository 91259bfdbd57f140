"""A language model of one table and one product, model.json, and a text to learn by heart, text.txt."""
import json, struct
import numpy as np
rng, shapes = np.random.default_rng(1), {"table": (128, 16), "out": (16, 128)}
header, data = {}, b""
for name, shape in shapes.items():
    values = rng.uniform(-0.3, 0.3, shape).astype(np.float32).tobytes()
    header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [len(data), len(data) + len(values)]}
    data += values
header = json.dumps(header).encode()
open("weights.safetensors", "wb").write(struct.pack("<Q", len(header)) + header + data)
json.dump({"format": "graph/1", "name": "bigram", "opset": {"": 17},
           "inputs": [{"name": "input_ids", "dtype": "i64", "shape": ["batch", "seq"]}], "outputs": [{"name": "logits"}],
           "weights": {"file": "weights.safetensors"},
           "nodes": [{"op": "Gather", "in": ["table", "input_ids"], "out": ["rows"], "attr": {"axis": 0}},
                     {"op": "MatMul", "in": ["rows", "out"], "out": ["logits"]}]}, open("model.json", "w"))
open("text.txt", "w").write("abcdefgh\n" * 60)
