# A tiny sentence model, a vocabulary and data that it can learn: fixture.py FOLDER.
import json, os, random, sys
import numpy as np
from weights import save

os.chdir(sys.argv[1])
random.seed(1)
rng = np.random.default_rng(1)
good, bad = "fine great lovely superb warm".split(), "dull awful poor cold sad".split()
other = "film story actor scene the a of plot is was".split()
words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + good + bad + other
open("vocab.txt", "w").write("\n".join(words) + "\n")


def lines(n, name):
    with open(name, "w") as f:
        for _ in range(n):
            y = random.randint(0, 1)
            text = [random.choice(other) for _ in range(random.randint(3, 8))]
            text.insert(random.randint(0, len(text)), random.choice(good if y else bad))
            f.write(" ".join(text) + "\t%d\n" % y)


lines(320, "train.tsv")
lines(40, "dev.tsv")

WIDTH = 8


tensors = {"table": (len(words), WIDTH), "dense.weight": (WIDTH, WIDTH), "dense.bias": (WIDTH,)}
save({name: rng.uniform(-0.5, 0.5, shape) for name, shape in tensors.items()})

model = {
    "format": "graph/1", "name": "tiny", "opset": {"": 17},
    "inputs": [{"name": "input_ids", "dtype": "i64", "shape": ["batch", "seq"]},
               {"name": "attention_mask", "dtype": "i64", "shape": ["batch", "seq"]}],
    "outputs": [{"name": "hidden"}, {"name": "total"}],
    "weights": {"file": "weights.safetensors"},
    "nodes": [{"op": "Gather", "in": ["table", "input_ids"], "out": ["rows"], "attr": {"axis": 0}},
              {"op": "MatMul", "in": ["rows", "dense.weight"], "out": ["product"]},
              {"op": "Add", "in": ["product", "dense.bias"], "out": ["sum"]},
              {"op": "Tanh", "in": ["sum"], "out": ["hidden"]},
              {"op": "ReduceSum", "in": ["hidden"], "out": ["total"], "attr": {"keepdims": 0}}],
}
json.dump(model, open("model.json", "w"))
