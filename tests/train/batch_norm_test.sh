#!/bin/sh
# Batch norm in training: the batch's statistics normalise, the model's follow them, as numpy has it; what is judged and
# exported uses the model's. A file may have its norms in either mode.
# ctest: Og large
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
cat >lib.py <<'PY'
import glob, json
import numpy as np
KEEP, EPSILON = 0.8, 1e-3
def tensors(path):
    data = open(path, "rb").read()
    n = int.from_bytes(data[:8], "little")
    return {k: np.frombuffer(data[8 + n + v["data_offsets"][0]:8 + n + v["data_offsets"][1]], np.float32).reshape(v["shape"])
            for k, v in json.loads(data[8:8 + n]).items() if k != "__metadata__"}
def saved(run): return tensors(sorted(glob.glob(f"{run}/checkpoints/step-*"))[-1] + "/weights.safetensors")
def conv(x, w):  # [n, 1, h, w] with a kernel of 3 x 3
    p = np.pad(x[:, 0], ((0, 0), (1, 1), (1, 1))).astype(np.float64)
    win = np.lib.stride_tricks.sliding_window_view(p, (3, 3), (1, 2))
    return np.einsum("nhwab,oab->nohw", win, w[:, 0].astype(np.float64))
def softmax_loss(logits, y):
    z = logits - logits.max(1, keepdims=True)
    return float(np.mean(np.log(np.exp(z).sum(1)) - z[np.arange(len(y)), y]))
def logits(t, x, mean, var):
    v = lambda a: a.reshape(1, -1, 1, 1).astype(np.float64)
    c = conv(x, t["conv.weight"])
    n = (c - v(mean)) / np.sqrt(v(var) + EPSILON) * v(t["bn.weight"]) + v(t["bn.bias"])
    return np.maximum(n, 0).mean((2, 3)) @ t["head.weight"].T + t["head.bias"]
def moments(t, x):
    c = conv(x, t["conv.weight"])
    return c.mean((0, 2, 3)), c.var((0, 2, 3))
PY
"${PYTHON:-python3}" - <<'PY' || exit 77
from lib import *
rng = np.random.default_rng(3)
t = {"conv.weight": rng.normal(0, .5, (4, 1, 3, 3)), "bn.weight": rng.uniform(.5, 1.5, 4), "bn.bias": rng.normal(0, .1, 4),
     "bn.running_mean": rng.normal(0, .1, 4), "bn.running_var": rng.uniform(.5, 1.5, 4)}
header, data = {}, b""
for k, v in t.items():
    b = v.astype(np.float32).tobytes()
    header[k] = {"dtype": "F32", "shape": list(v.shape), "data_offsets": [len(data), len(data) + len(b)]}
    data += b
header = json.dumps(header).encode()
open("weights.safetensors", "wb").write(len(header).to_bytes(8, "little") + header + data)
for name, attr, more in ("after", {}, []), ("during", {"training_mode": 1}, ["mean", "var"]):
    json.dump({"format": "graph/1", "name": "cnn", "opset": {"": 17}, "outputs": [{"name": "y"}],
        "inputs": [{"name": "x", "dtype": "f32", "shape": ["batch", 1, 8, 8]}], "weights": {"file": "weights.safetensors"},
        "nodes": [{"op": "Conv", "in": ["x", "conv.weight"], "out": ["c"], "attr": {"pads": [1, 1, 1, 1]}},
            {"op": "BatchNormalization", "in": ["c", "bn.weight", "bn.bias", "bn.running_mean", "bn.running_var"],
             "out": ["n", *more], "attr": {"momentum": KEEP, "epsilon": EPSILON, **attr}},
            {"op": "Relu", "in": ["n"], "out": ["r"]}, {"op": "GlobalAveragePool", "in": ["r"], "out": ["p"]},
            {"op": "Flatten", "in": ["p"], "out": ["y"]}]}, open(f"{name}.json", "w"))
y = rng.integers(0, 2, 48)
x = (rng.normal(1, 1, (48, 1, 8, 8)) + 3 * y[:, None, None, None] * np.sign(np.arange(8) - 3.5)).astype(np.float32)
np.save("x.npy", x), np.save("y.npy", y)
open("order.txt", "w").write("".join(" ".join(str(i * 7 % 48) for i in range(k, k + 8)) + "\n" for k in range(0, 40, 8)))
PY
train() { # RUN MODEL ARGUMENT...
    run=$1 model=$2
    shift 2
    "$TESSERA" train "$model.json" --data x=x.npy --data label=y.npy --labels 2 --batch 8 -q -o "$run" "$@" ||
        wrong "train $model $* fails"
    checked=$((checked + 1))
}
holds() { later "$2" "x, y = np.load('x.npy'), np.load('y.npy')
rows = lambda run: [r for r in map(json.loads, open(f'{run}/metrics.jsonl')) if 'loss' in r]
$1"; }

# weights that stay: only the statistics move, with the batches of the order given
set -- --order order.txt --optimizer sgd --lr 1e-30 --clip 0
for model in after during; do
    train $model $model "$@" --steps 5
    holds "first, last = tensors('weights.safetensors'), saved('$model')
mean, var = first['bn.running_mean'].astype(float), first['bn.running_var'].astype(float)
for r, line in zip(rows('$model'), open('order.txt')):
    b = [int(i) for i in line.split()]
    m, v = moments(last, x[b])
    assert abs(r['loss'] - softmax_loss(logits(last, x[b], m, v), y[b])) < 1e-5, r
    mean, var = KEEP * mean + (1 - KEEP) * m, KEEP * var + (1 - KEEP) * v
assert np.allclose(last['bn.running_mean'], mean, atol=1e-6) and np.allclose(last['bn.running_var'], var, rtol=1e-6)" \
        "$model: losses or statistics are not numpy's"
    "$TESSERA" eval $model --data x=x.npy --data label=y.npy --json >$model.eval || wrong "eval of $model fails"
    "$TESSERA" export $model -o $model.onnx -q || wrong "export of $model fails"
    "$TESSERA" run $model.onnx --in x=x.npy --out $model.out -q || wrong "$model.onnx does not run"
    holds "t = saved('$model')
want = logits(t, x, t['bn.running_mean'], t['bn.running_var'])
assert abs(json.load(open('$model.eval'))['loss'] - softmax_loss(want, y)) < 1e-5
assert np.allclose(np.load('$model.out/logits.npy'), want, atol=1e-5)
try:
    import onnxruntime
except ImportError:
    raise SystemExit(0)
got = onnxruntime.InferenceSession('$model.onnx').run(['logits'], {'x': x})[0]
assert np.allclose(got, want, atol=1e-4), abs(got - want).max()" "$model: eval, export or another runtime use other statistics"
done
# the mean gradient of two batches moves them twice; a run that goes on, and one emitted, have the same bits
train both after "$@" --accumulate 2 --steps 2
holds "a, b = saved('both'), tensors('weights.safetensors')
mean = b['bn.running_mean'].astype(float)
for line in list(open('order.txt'))[:4]:
    mean = KEEP * mean + (1 - KEEP) * moments(a, x[[int(i) for i in line.split()]])[0]
assert np.allclose(a['bn.running_mean'], mean, atol=1e-6)" "batches of one step do not all count"
# a batch that is not finite undoes those before it in the same step: what went before is all there is, in a program too
"${PYTHON:-python3}" - <<'PY'
import numpy as np
x = np.load("x.npy")
bad = [int(i) for i in open("order.txt").read().split("\n")[3].split()]
x[bad[0]] = np.inf
np.save("bad.npy", x)
PY
lost() { # lost RUN STEPS: of steps of two batches the second meets an infinite number
    "$TESSERA" train after.json --data x=bad.npy --data label=y.npy --labels 2 --batch 8 -q -o "$1" --accumulate 2 --steps "$2" \
        --order order.txt --total-steps 2 --lr 0.02 --on-nan skip 2>/dev/null || wrong "$1: a step is not passed over"
}
lost one 1
lost two 2
holds "a, b = saved('one'), saved('two')
assert rows('two')[1]['skipped'] and a.keys() == b.keys()
for k in a: assert (a[k] == b[k]).all(), k" "statistics of batches before one that is not finite stay"
if command -v make >/dev/null; then
    "$TESSERA" emit two --train -o two.c -q && make -s -C two.c && (cd two.c && ./train >/dev/null) || wrong "two.c does not train"
    cmp two.c/trained.safetensors two/checkpoints/step-00000002/weights.safetensors || wrong "two.c has other bits"
fi
train whole after --lr 0.02 --steps 12 --ema 0.9
train parts after --lr 0.02 --total-steps 12 --steps 5 --ema 0.9
train whole2 after --lr 0.02 --total-steps 12 --steps 12 --ema 0.9
train parts after --lr 0.02 --total-steps 12 --steps 12 --ema 0.9 --resume
cmp whole2/checkpoints/step-00000012/weights.safetensors parts/checkpoints/step-00000012/weights.safetensors ||
    wrong "a run that goes on has other statistics"
holds "assert rows('whole')[-1]['loss'] < rows('whole')[0]['loss']" "nothing is learnt"
if command -v make >/dev/null; then
    "$TESSERA" emit whole2 --train -o whole.c -q && make -s -C whole.c && (cd whole.c && ./train >/dev/null) ||
        wrong "the emitted program does not train"
    cmp whole.c/trained.safetensors whole2/checkpoints/step-00000012/weights.safetensors || wrong "the program has other bits"
fi
# frozen: as they stand, and so is what the loss is computed with
train fixed during "$@" --steps 1 --freeze 'bn.running*'
holds "t, s = tensors('weights.safetensors'), saved('fixed')
assert 'bn.running_mean' not in s and 'bn.running_var' not in s
b = [int(i) for i in open('order.txt').readline().split()]
s.update({k: t[k] for k in t if k not in s})
assert abs(rows('fixed')[0]['loss'] - softmax_loss(logits(s, x[b], t['bn.running_mean'], t['bn.running_var']), y[b])) < 1e-5" \
    "frozen statistics move, or are not used"
expect 3 'of "bn.running_mean" and "bn.running_var", one is to stay' train after.json --data x=x.npy --data label=y.npy --labels 2 \
    --freeze '*mean' -o none
# exporters write equal tensors once and hand them on under other names: each is one of its own in training
"${PYTHON:-python3}" - <<'PY'
from lib import *
t = tensors("weights.safetensors")
header, data = {}, b""
for k, v in ("conv.weight", t["conv.weight"]), ("scale", np.ones(4, np.float32)), ("bias", np.zeros(4, np.float32)):
    b = v.tobytes()
    header[k] = {"dtype": "F32", "shape": list(v.shape), "data_offsets": [len(data), len(data) + len(b)]}
    data += b
header = json.dumps(header).encode()
open("once.safetensors", "wb").write(len(header).to_bytes(8, "little") + header + data)
m = json.load(open("after.json"))
m["weights"]["file"] = "once.safetensors"
norm = next(n for n in m["nodes"] if n["op"] == "BatchNormalization")
norm["in"] = ["c", "scale", "bias", "bias", "scale"]
json.dump(m, open("tied.json", "w"))
norm["in"] = ["c", "scale", "bias", "mean", "var"]
m["nodes"] = [{"op": "Identity", "in": ["scale"], "out": ["var"]}, {"op": "Identity", "in": ["bias"], "out": ["mean"]}] + m["nodes"]
json.dump(m, open("once.json", "w"))
PY
train once once --steps 3 --lr 0.02
"$TESSERA" eval once --data x=x.npy --data label=y.npy --json >once.eval || wrong "eval of once fails"
"$TESSERA" export once -o once.onnx -q && "$TESSERA" run once.onnx --in x=x.npy --out once.out -q || wrong "once.onnx does not run"
holds "t = saved('once')
assert sorted(t) == ['bias', 'conv.weight', 'head.bias', 'head.weight', 'mean', 'scale', 'var'], sorted(t)
assert abs(t['mean'] - t['bias']).max() > 1e-3 and abs(t['var'] - t['scale']).max() > 1e-3
t['bn.weight'], t['bn.bias'] = t['scale'], t['bias']
want = logits(t, x, t['mean'], t['var'])
assert abs(json.load(open('once.eval'))['loss'] - softmax_loss(want, y)) < 1e-5
assert np.allclose(np.load('once.out/logits.npy'), want, atol=1e-5)" "what has two names is one weight"
expect 4 'is a running statistic and another weight too, as one tensor' train tied.json --data x=x.npy --data label=y.npy --labels 2 \
    --batch 8 -o tied
train tied tied --steps 1 --freeze bias --freeze scale
# half precision: the forward pass is not computed twice, and statistics stay in f32
train half after "$@" --steps 5 --precision bf16
holds "a, b = saved('half'), saved('after'); assert a['bn.running_var'].dtype == np.float32
assert np.allclose(a['bn.running_mean'], b['bn.running_mean'], atol=0.05) and np.allclose(a['bn.running_var'], b['bn.running_var'], rtol=0.05)" \
    "statistics of bf16 are far off"
finish
