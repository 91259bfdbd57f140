# The digits as arrays and a small convolutional network: digits.py DIGITS.tsv FOLDER. Images to learn from come five
# times, as they are and a pixel off in each direction.
import json, os, sys
import numpy as np
from weights import save

rows = np.loadtxt(sys.argv[1])
os.chdir(sys.argv[2])
label, image = rows[:, 0].astype(np.int64), (rows[:, 1:] / 16).astype(np.float32).reshape(-1, 1, 8, 8)
moves = (0, 0), (0, 1), (0, -1), (1, 0), (-1, 0)


def moved(x, down, right):
    return np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))[:, :, 1 - down:9 - down, 1 - right:9 - right]


np.save("train_x.npy", np.concatenate([moved(image[:1437], *by) for by in moves]))
np.save("train_y.npy", np.tile(label[:1437], len(moves)))
np.save("test_x.npy", image[1437:])
np.save("test_y.npy", label[1437:])

rng = np.random.default_rng(1)
tensors = {}


def weight(name, *shape):
    fan = int(np.prod(shape[1:])) if len(shape) > 1 else 0
    tensors[name] = (rng.standard_normal(shape).astype(np.float32) * np.float32(np.sqrt(2 / fan)) if fan
                     else np.zeros(shape, np.float32))
    return name


def conv(x, out, name, cin, cout):
    return {"op": "Conv", "out": [out],
            "in": [x, weight(name + ".weight", cout, cin, 3, 3), weight(name + ".bias", cout)],
            "attr": {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}}


model = {
    "format": "graph/1", "name": "digits", "opset": {"": 17},
    "inputs": [{"name": "x", "dtype": "f32", "shape": ["batch", 1, 8, 8]}], "outputs": [{"name": "logits"}],
    "weights": {"file": "weights.safetensors"},
    "nodes": [conv("x", "a", "conv1", 1, 16), {"op": "Relu", "in": ["a"], "out": ["b"]},
              conv("b", "c", "conv2", 16, 32), {"op": "Relu", "in": ["c"], "out": ["d"]},
              {"op": "MaxPool", "in": ["d"], "out": ["e"], "attr": {"kernel_shape": [2, 2], "strides": [2, 2]}},
              {"op": "Flatten", "in": ["e"], "out": ["f"]},
              {"op": "Gemm", "in": ["f", weight("dense1.weight", 64, 512), weight("dense1.bias", 64)], "out": ["g"],
               "attr": {"transB": 1}},
              {"op": "Relu", "in": ["g"], "out": ["h"]},
              {"op": "Gemm", "in": ["h", weight("dense2.weight", 10, 64), weight("dense2.bias", 10)], "out": ["logits"],
               "attr": {"transB": 1}}],
}
json.dump(model, open("model.json", "w"))
save(tensors)
