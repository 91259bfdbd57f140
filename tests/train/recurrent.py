"""A language model of two LSTMs, one over what the other gives, model.json, and a text to learn by heart, text.txt:
recurrent.py [WIDTH]. LSTM takes [seq, batch, width]."""
import json, sys
import numpy as np
from weights import save
width, n = int(sys.argv[1]) if len(sys.argv) > 1 else 16, 128
rng = np.random.default_rng(1)
shapes = {"table": (n, width), "out": (width, n)}
for i in "12":
    shapes |= {"w" + i: (1, 4 * width, width), "r" + i: (1, 4 * width, width)}
save({name: rng.uniform(-0.3, 0.3, shape) for name, shape in shapes.items()})
nodes = [{"op": "Gather", "in": ["table", "input_ids"], "out": ["rows"], "attr": {"axis": 0}},
         {"op": "Transpose", "in": ["rows"], "out": ["x1"], "attr": {"perm": [1, 0, 2]}}]
for i in 1, 2:
    nodes += [{"op": "LSTM", "name": f"lstm{i}", "in": [f"x{i}", f"w{i}", f"r{i}"], "out": [f"y{i}"],
               "attr": {"hidden_size": width}},
              {"op": "ReduceMean", "in": [f"y{i}"], "out": [f"x{i + 1}"], "attr": {"axes": [1], "keepdims": 0}}]
nodes += [{"op": "Transpose", "in": ["x3"], "out": ["last"], "attr": {"perm": [1, 0, 2]}},
          {"op": "MatMul", "in": ["last", "out"], "out": ["logits"]}]
json.dump({"format": "graph/1", "name": "recurrent", "opset": {"": 17},
           "inputs": [{"name": "input_ids", "dtype": "i64", "shape": ["batch", "seq"]}],
           "outputs": [{"name": "logits"}],
           "weights": {"file": "weights.safetensors"}, "nodes": nodes}, open("model.json", "w"))
open("text.txt", "w").write("abcdabce\n" * 200)
