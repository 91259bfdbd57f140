"""A language model of one table and one product, model.json, and a text to learn by heart, text.txt: bigram.py [WIDTH
TOKENS]."""
import json, sys
import numpy as np
from weights import save
width, n = map(int, sys.argv[1:] or (16, 128))
rng, shapes = np.random.default_rng(1), {"table": (n, width), "out": (width, n)}
save({name: rng.uniform(-0.3, 0.3, shape) for name, shape in shapes.items()})
json.dump({"format": "graph/1", "name": "bigram", "opset": {"": 17},
           "inputs": [{"name": "input_ids", "dtype": "i64", "shape": ["batch", "seq"]}],
           "outputs": [{"name": "logits"}],
           "weights": {"file": "weights.safetensors"},
           "nodes": [{"op": "Gather", "in": ["table", "input_ids"], "out": ["rows"], "attr": {"axis": 0}},
                     {"op": "MatMul", "in": ["rows", "out"], "out": ["logits"]}]}, open("model.json", "w"))
open("text.txt", "w").write("abcdefgh\n" * 60)
