#!/bin/sh
# A network of blocks called as one operation trains as the same network with every part written out does: the same
# losses, the same statistics of batch norm, the same weights.
# ctest: Og
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
"${PYTHON:-python3}" - <<'PY' || exit 77
import json
import numpy as np
rng = np.random.default_rng(5)
t = {"embed": rng.normal(0, 1, (1, 6)), "q": rng.normal(0, .4, (6, 6)), "k": rng.normal(0, .4, (6, 6)),
     "v": rng.normal(0, .4, (6, 6)), "o": rng.normal(0, .4, (6, 6)), "up": rng.normal(0, .4, (6, 10)),
     "down": rng.normal(0, .4, (10, 6))}
for i, (outputs, inputs, window) in enumerate([(4, 1, 3), (4, 4, 3), (4, 1, 1)]):
    t |= {f"conv{i}": rng.normal(0, .4, (outputs, inputs, window, window)), f"scale{i}": rng.uniform(.5, 1.5, 4),
          f"bias{i}": rng.normal(0, .1, 4), f"mean{i}": rng.normal(0, .1, 4), f"var{i}": rng.uniform(.5, 1.5, 4)}
header, data = {}, b""
for k, v in t.items():
    b = v.astype(np.float32).tobytes()
    header[k] = {"dtype": "F32", "shape": list(v.shape), "data_offsets": [len(data), len(data) + len(b)]}
    data += b
header = json.dumps(header).encode()
open("weights.safetensors", "wb").write(len(header).to_bytes(8, "little") + header + data)


def node(op, operands, out, **attr):
    return {"op": op, "in": operands, "out": [out], "attr": attr}


def normal(x, i, out, stride, pad):
    return [node("Conv", [x, f"conv{i}"], f"c{i}", strides=[stride] * 2, pads=[pad] * 4),
            node("BatchNormalization", [f"c{i}", *(f"{w}{i}" for w in ("scale", "bias", "mean", "var"))], out, momentum=0.8)]


def heads(x, w, out):
    return [node("MatMul", [x, w], f"{out}m"), node("Reshape", [f"{out}m", "split"], f"{out}r"),
            node("Transpose", [f"{out}r"], out, perm=[0, 2, 1, 3])]


image = [node("GlobalAveragePool", ["n"], "g"), node("Flatten", ["g"], "y")]
text = [node("Reshape", ["x", "rows"], "p"), node("MatMul", ["p", "embed"], "e")]
pooled = [node("Transpose", ["f"], "fp", perm=[0, 2, 1]), node("Unsqueeze", ["fp", "last"], "fu"),
          node("GlobalAveragePool", ["fu"], "g"), node("Flatten", ["g"], "y")]
models = {
    "image-parts": [*normal("x", 0, "n0", 2, 1), node("Relu", ["n0"], "r0"), *normal("r0", 1, "n1", 1, 1),
                    *normal("x", 2, "n2", 2, 0), node("Add", ["n1", "n2"], "s"), node("Relu", ["s"], "n"), *image],
    "image-block": [node("tessera.residual_block", ["x", *(f"{w}{i}" for i in range(3) for w in
                         ("conv", "scale", "bias", "mean", "var"))], "n", stride=2, project=1, momentum=0.8), *image],
    "text-parts": [*text, *heads("e", "q", "qh"), *heads("e", "k", "kh"), *heads("e", "v", "vh"),
                   node("Transpose", ["kh"], "kt", perm=[0, 1, 3, 2]), node("MatMul", ["qh", "kt"], "s"),
                   node("Mul", ["s", "half"], "sh"), node("Softmax", ["sh"], "w", axis=-1),
                   node("MatMul", ["w", "vh"], "a"), node("Transpose", ["a"], "at", perm=[0, 2, 1, 3]),
                   node("Reshape", ["at", "merge"], "am"), node("MatMul", ["am", "o"], "z"),
                   node("MatMul", ["z", "up"], "u"), node("Relu", ["u"], "ur"), node("MatMul", ["ur", "down"], "f"), *pooled],
    "text-block": [*text, node("tessera.multi_head_attention", ["e", "e", "e", "q", "k", "v", "o"], "z", heads=3, scale=0.5),
                   node("tessera.feed_forward", ["z", "up", "down"], "f", activation="relu"), *pooled]}
whole = lambda *v: {"dtype": "i64", "shape": [len(v)], "data": list(v)}
for name, nodes in models.items():
    json.dump({"format": "graph/1", "name": name, "opset": {"": 17}, "outputs": [{"name": "y"}], "nodes": nodes,
               "inputs": [{"name": "x", "dtype": "f32", "shape": ["batch", 1, 8, 8]}],
               "weights": {"file": "weights.safetensors"},
               "constants": {"split": whole(0, 0, 3, 2), "merge": whole(0, 0, 6), "rows": whole(0, 64, 1), "last": whole(3),
                             "half": {"dtype": "f32", "shape": [], "data": [0.5]}}}, open(f"{name}.json", "w"))
y = rng.integers(0, 2, 32)
np.save("x.npy", (rng.normal(0, 1, (32, 1, 8, 8)) + y[:, None, None, None]).astype(np.float32)), np.save("y.npy", y)
PY
for kind in image text; do
    for how in parts block; do
        "$TESSERA" train $kind-$how.json --data x=x.npy --data label=y.npy --labels 2 --batch 8 --steps 6 --lr 0.01 -q \
            -o $kind-$how || wrong "train $kind-$how fails"
        checked=$((checked + 1))
    done
    "${PYTHON:-python3}" - $kind <<'PY' || wrong "$kind: trained as one operation and in parts differ"
import glob, json, sys
import numpy as np
def tensors(path):
    data = open(path, "rb").read()
    n = int.from_bytes(data[:8], "little")
    return {k: np.frombuffer(data[8 + n + v["data_offsets"][0]:8 + n + v["data_offsets"][1]], np.float32)
            for k, v in json.loads(data[8:8 + n]).items() if k != "__metadata__"}
def saved(run): return tensors(sorted(glob.glob(f"{run}/checkpoints/step-*"))[-1] + "/weights.safetensors")
def losses(run): return [r["loss"] for r in map(json.loads, open(f"{run}/metrics.jsonl")) if "loss" in r]
one, parts, start = saved(f"{sys.argv[1]}-block"), saved(f"{sys.argv[1]}-parts"), tensors("weights.safetensors")
assert one.keys() == parts.keys() and len(one) >= 6, (one.keys(), parts.keys())
for k in one:
    assert np.allclose(one[k], parts[k], 1e-4, 1e-5), (k, one[k], parts[k])
assert any(np.abs(one[k] - start[k]).max() > 1e-3 for k in one if k in start), "nothing moved"
assert all(np.abs(one[k] - start[k]).max() > 1e-4 for k in one if k[:3] in ("mea", "var")), "statistics stand still"
np.testing.assert_allclose(losses(f"{sys.argv[1]}-block"), losses(f"{sys.argv[1]}-parts"), 1e-4)
PY
    checked=$((checked + 1))
done
finish
