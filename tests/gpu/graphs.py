"""Graphs of one operation that memory bounds: graphs.py OP ROWS COLUMNS prints graph/1. And products of two inputs."""
import json
import sys

NODES = {  # operator of ONNX; which inputs it has, of all elements or of one row; attributes
    "add": ("Add", {"x": "all", "y": "all"}, {}),
    "gelu": ("Gelu", {"x": "all"}, {}),
    "layer_norm": ("LayerNormalization", {"x": "all", "scale": "row", "bias": "row"}, {"axis": -1}),
    "softmax": ("Softmax", {"x": "all"}, {"axis": -1})}


def graph(op, rows, columns):
    operator, inputs, attributes = NODES[op]
    shape = {"all": [rows, columns], "row": [columns]}
    return {"format": "graph/1", "opset": {"": 20}, "outputs": [{"name": "z"}],
            "inputs": [{"name": n, "dtype": "f32", "shape": shape[of]} for n, of in inputs.items()],
            "nodes": [{"op": operator, "in": list(inputs), "out": ["z"], "attr": attributes}]}


def product(m, k, n, dtype):
    return {"format": "graph/1", "opset": {"": 20}, "outputs": [{"name": "y"}],
            "inputs": [{"name": "a", "dtype": dtype, "shape": [m, k]}, {"name": "b", "dtype": dtype, "shape": [k, n]}],
            "nodes": [{"op": "MatMul", "in": ["a", "b"], "out": ["y"]}]}


if __name__ == "__main__":
    print(json.dumps(graph(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
