#!/bin/sh
# Activations of cells stay exact where their textbook formulas overflow or cancel.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
cat >rnn.py <<'PY'
import json, sys, numpy as np
x = np.array([-200, -30, -1e-4, -1e-6, 0, 1e-6, 1, 30, 200], np.float32)
np.save("x.npy", x.reshape(1, -1, 1))
json.dump({"format": "graph/1", "opset": {"": 17}, "outputs": [{"name": "y"}],
           "inputs": [{"name": "x", "dtype": "f32", "shape": [1, len(x), 1]}, {"name": "w", "dtype": "f32", "shape": [1, 1, 1]}],
           "nodes": [{"op": "RNN", "in": ["x", "w", "w"], "out": ["y"],
                      "attr": {"hidden_size": 1, "activations": {"strings": [sys.argv[1]]}}}]}, open("rnn.json", "w"))
np.save("w.npy", np.ones((1, 1, 1), np.float32))
d = x.astype(np.float64)
np.save("want.npy", {"Softplus": np.logaddexp(d, 0), "Elu": np.where(d < 0, np.expm1(d), d)}[sys.argv[1]])
PY
for activation in Softplus Elu; do
    "${PYTHON:-python3}" rnn.py $activation || exit 77
    for target in interp c; do
        checked=$((checked + 1))
        "$TESSERA" run rnn.json --target $target --in x=x.npy --in w=w.npy -o got -q || wrong "$activation, $target fails"
        "${PYTHON:-python3}" -c 'import numpy as n; n.testing.assert_allclose(n.load("got/y.npy").ravel(), n.load("want.npy"), 1e-5, 1e-37)' ||
            wrong "$activation, $target: wrong numbers"
    done
done
finish
