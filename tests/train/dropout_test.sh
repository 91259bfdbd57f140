#!/bin/sh
# Dropout inside a model: operations of the file, and layers that are named. The forward pass tells which elements stay,
# as x holds powers of two; the gradient of what was added to x must be that mask.
# ctest: Og
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
"${PYTHON:-python3}" - <<'PY' || exit 77
import json
import numpy as np
np.save("x.npy", np.tile(2.0 ** np.arange(12, dtype=np.float32), (8, 1)))
def model(name, *nodes):
    json.dump({"format": "graph/1", "name": name, "opset": {"": 13}, "constants": {
        "rate": {"dtype": "f32", "shape": [], "data": [0.25]}, "yes": {"dtype": "bool", "shape": [], "data": [True]}},
        "inputs": [{"name": "x", "dtype": "f32", "shape": ["batch", 12]}], "outputs": [{"name": "loss"}, {"name": "y"}],
        "weights": {"file": "weights.safetensors"}, "nodes": [
        {"op": "Add", "in": ["x", "layer.0.dense.bias"], "out": ["a"], "name": "/layer.0/dense/Add"}, *nodes,
        {"op": "ReduceSum", "in": ["y"], "out": ["loss"], "attr": {"keepdims": 0}}]}, open(name + ".json", "w"))
model("none", {"op": "Identity", "in": ["a"], "out": ["y"]})
model("off", {"op": "Dropout", "in": ["a", "rate"], "out": ["y"], "name": "/drop/Dropout"})
model("on", {"op": "Dropout", "in": ["a", "rate", "yes"], "out": ["y"], "name": "/drop/Dropout"})
header = json.dumps({"layer.0.dense.bias": {"dtype": "F32", "shape": [12], "data_offsets": [0, 48]}}).encode()
open("weights.safetensors", "wb").write(len(header).to_bytes(8, "little") + header + bytes(48))
PY
cat >lib.py <<'PY'
import glob, json, numpy as np
def losses(run): return [json.loads(l)["loss"] for l in open(f"{run}/metrics.jsonl") if '"loss"' in l]
def bias(run):
    data = open(sorted(glob.glob(f"{run}/checkpoints/step-*"))[-1] + "/weights.safetensors", "rb").read()
    return np.frombuffer(data[8 + int.from_bytes(data[:8], "little"):], np.float32)[:12]
def mask(value, rate):  # of a sum of kept powers of two
    kept = value * (1 - rate)
    assert abs(kept - round(kept)) < 1e-3 and 0 <= kept < 4096, value
    return np.array([round(kept) >> i & 1 for i in range(12)])
PY
train() { # RUN MODEL ARGUMENT...
    run=$1 model=$2
    shift 2
    "$TESSERA" train "$model.json" --data x=x.npy --loss loss --batch 1 --optimizer sgd --lr 1 --clip 0 --weight-decay 0 \
        --schedule constant --warmup 0 -q -o "$run" "$@" || wrong "train $model $* fails"
    checked=$((checked + 1))
}
holds() { later "$2" "$1"; }
mask_is_gradient() { # RUN RATE
    holds "m = mask(losses('$1')[0], $2); g = -bias('$1') * (1 - $2)
assert 0 < m.sum() < 12 and np.allclose(g, m, atol=1e-5), (m, g)" "$1: the gradient goes through other elements than the values"
}

# the file's own operation, off or on in the file: in training it leaves out what it says, else nothing
for kind in off on; do
    train $kind $kind --steps 1
    mask_is_gradient $kind 0.25
    train $kind.half $kind --steps 1 --dropout 0.5
    mask_is_gradient $kind.half 0.5
    train $kind.none $kind --steps 1 --dropout 0
    holds "assert losses('$kind.none') == [4095]" "--dropout 0 leaves something out"
    "$TESSERA" eval $kind.none --data x=x.npy --json >$kind.eval || wrong "eval of $kind fails"
    holds "import json; assert json.load(open('$kind.eval'))['loss'] == 4095 - 12" "$kind: dropout in evaluation"
done
# layers by name, of operations and of weights; every step leaves out others, every run the same
for glob in '*/dense' 'layer.?' '/layer.0/dense/Add'; do
    train "named$checked" none --steps 1 --dropout 0.25 --dropout-on "$glob"
    mask_is_gradient "$run" 0.25
done
train steps none --steps 6 --dropout 0.5 --dropout-on 'layer*' --lr 1e-9
train parts none --steps 3 --dropout 0.5 --dropout-on 'layer*' --lr 1e-9
train parts none --steps 6 --dropout 0.5 --dropout-on 'layer*' --lr 1e-9 --resume
holds "a, b = losses('steps'), losses('parts'); assert a == b and len(set(a)) == 6, (a, b)" \
    "steps leave out the same elements, or a resumed run others"
# the last of several batches has other elements than the first
train sum none --steps 1 --accumulate 2 --dropout 0.5 --dropout-on 'layer*'
holds "g = -bias('sum') * 0.5 * 2; assert set(np.round(g, 4)) == {0, 1, 2}, g" "batches of one step leave out the same"
# how a step is cut does not decide what its examples leave out
train all none --steps 2 --batch 8 --dropout 0.5 --dropout-on 'layer*'
for cut in 'batch 8 shards 2' 'batch 8 shards 8' 'batch 4 accumulate 2' 'batch 4 accumulate 2 shards 4'; do
    train "$cut" none --steps 2 --dropout 0.5 --dropout-on 'layer*' $(echo $cut | sed 's/[a-z][a-z]*/--&/g')
    holds "parts = losses('all')[0] / losses('$cut')[0]
assert parts > 1 and np.array_equal(bias('$cut') * parts, bias('all')), (parts, bias('$cut'), bias('all'))" "$cut: other elements than in one batch"
done

set -- train none.json --data x=x.npy --loss loss -o none
expect 2 "--dropout-on: dropout on 'dens': no operation or layer has such a name" "$@" --dropout 0.1 --dropout-on dens
expect 2 'of the weights the nearest ' "$@" --dropout 0.1 --dropout-on dens
expect 2 '--dropout-on goes with --dropout' "$@" --dropout-on 'layer*'
expect 2 '--dropout 1 leaves nothing' "$@" --dropout 1 --dropout-on 'layer*'
expect 2 'there is no head whose input' "$@" --dropout 0.1
expect 2 'there is no head whose input' "$@" --dropout 0.1 --dropout-on head
finish
