#!/bin/sh
# An LSTM and a GRU, matrices and all, learn the automaton of eight states that they see symbols of: where these lead is told
# right of 99 in 100 sequences that they have not seen. Sizes of the last layer follow from their use. ctest: Og
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
"${PYTHON:-python3}" - <<'PY' || exit 77
import json
import numpy as np
STEPS, HIDDEN = 8, 24
rng = np.random.default_rng(3)


def walks(n):
    """Symbols, and where they lead: 0 goes to state 0, 1 to the next of eight, 2 stays, 3 goes half around."""
    u, s = rng.integers(0, 4, (n, STEPS)), np.zeros(n, np.int64)
    for t in range(STEPS):
        s = np.choose(u[:, t], [0 * s, (s + 1) % 8, s, (s + 4) % 8])
    return np.eye(4, dtype=np.float32)[u], s


for name, n in ("train", 4096), ("test", 1000):
    x, y = walks(n)
    np.save(f"{name}_x.npy", x), np.save(f"{name}_y.npy", y)


def parameter(name, *shape):
    return {"name": name, "op": "tessera.parameter", "in": [], "out": [name],
            "attr": {"shape": list(shape), "scale": 0.3, "seed": len(name) + sum(map(ord, name))}}


for kind, gates in ("LSTM", 4), ("GRU", 3):
    nodes = [parameter("w", 1, gates * HIDDEN, 4), parameter("r", 1, gates * HIDDEN, HIDDEN), parameter("b", 1, 2 * gates * HIDDEN),
             parameter("dense", 8, -1), parameter("bias", -1),
             {"op": "Transpose", "in": ["x"], "out": ["xt"], "attr": {"perm": [1, 0, 2]}},
             {"op": kind, "in": ["xt", "w", "r", "b"], "out": ["all", "last"], "attr": {"hidden_size": HIDDEN}},
             {"op": "Squeeze", "in": ["last", "front"], "out": ["h"]},
             {"op": "Gemm", "in": ["h", "dense", "bias"], "out": ["logits"], "attr": {"transB": 1}}]
    json.dump({"format": "graph/1", "opset": {"": 17, "tessera": 1}, "nodes": nodes, "outputs": [{"name": "logits"}],
               "constants": {"front": {"dtype": "i64", "shape": [1], "data": [0]}},
               "inputs": [{"name": "x", "dtype": "f32", "shape": ["batch", STEPS, 4]}]}, open(f"{kind}.json", "w"))
PY
for kind in LSTM GRU; do
    expect 0 '1000 examples' train $kind.json --data x=train_x.npy --data label=train_y.npy --eval x=test_x.npy \
        --eval label=test_y.npy --head none --batch 64 --epochs 8 --eval-every 512 --lr 2e-2 --threads 1 -o run-$kind
    "$TESSERA" eval run-$kind --data x=test_x.npy --data label=test_y.npy --json >eval.json
    "${PYTHON:-python3}" -c 'import json; a = json.load(open("eval.json"))["accuracy"]; print(a); assert a >= 0.99' ||
        wrong "$kind: the automaton is not learnt"
done
finish
