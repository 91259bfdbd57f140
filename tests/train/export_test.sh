#!/bin/sh
# Runs of built-in models become ONNX files: batch and length are free in them, the official checker accepts them, and
# they say what the run says, in ONNX Runtime too where it is installed.
# ctest: Og
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
python=${PYTHON:-python3}
"$python" - <<'PY' || exit 77
import numpy as np
rng = np.random.default_rng(0)
np.save("x.npy", rng.standard_normal((6, 3, 40, 40)).astype(np.float32)), np.save("label.npy", rng.integers(0, 10, 6))
def lines(name, form): open(name, "w").write("".join(form.format(i) for i in range(8)))
lines("train.tsv", "a fine film {0}\t1\nthe dullest hour {0}\t0\n")
lines("pairs.tsv", "a fine film {0}\tfilm {0} is fine\n")
lines("song.txt", "{0} bottles of beer on the wall\n")
def padded(texts, n):
    ids, mask = np.zeros((len(texts), n), np.int64), np.zeros((len(texts), n), np.int64)
    for i, t in enumerate(texts):
        ids[i, :len(t)], mask[i, :len(t)] = list(t.encode()), 1
    return ids, mask
ids, mask = padded(["a fine film", "the dullest hour of all", "so"], 23)
np.save("ids.npy", ids), np.save("mask.npy", mask), np.save("types.npy", 0 * ids)
PY
# fits RUN NAME=FILE.npy... : RUN.onnx takes these arrays, in both runtimes to the same numbers
fits() {
    run=$1
    shift
    expect 0 "wrote $run.onnx" export "$run" -o "$run.onnx"
    checked=$((checked + 1))
    set -- $(printf ' --in %s' "$@")
    "$TESSERA" run "$run.onnx" "$@" --out "$run.out" -q >/dev/null || wrong "$run.onnx does not run"
    "$python" - "$run" "$@" <<'PY' || wrong "$run.onnx is no good for others"
import sys, numpy as np
try:
    import onnx, onnxruntime as ort
except ImportError:
    raise SystemExit(0)
run, *given = sys.argv[1:]
onnx.checker.check_model(run + ".onnx", full_check=True)
session = ort.InferenceSession(run + ".onnx", providers=["CPUExecutionProvider"])
feed = {g.split("=")[0]: np.load(g.split("=")[1]) for g in given if g != "--in"}
assert sorted(feed) == sorted(i.name for i in session.get_inputs()), [i.name for i in session.get_inputs()]
assert session.get_inputs()[0].shape[0] == "batch" and session.get_outputs()[0].shape[0] in ("batch", "y.0")
for o, got in zip(session.get_outputs(), session.run(None, feed)):
    want = np.load(f"{run}.out/{o.name}.npy")
    assert got.shape == want.shape and np.allclose(got, want, atol=1e-4), (o.name, abs(got - want).max())
PY
}
tiny() { "$TESSERA" train "$@" --lr 1e-3 --threads 1 -q || wrong "training fails: $*"; }
# says RUN: of three texts at once the file, as it was run, says what predict says
says() {
    "$TESSERA" predict "$1" --text "a fine film" --text "the dullest hour of all" --text so --json >said.json
    "$python" - "$1" <<'PY' || wrong "the exported model says something else than predict ($1, $how)"
import json, glob, sys, numpy as np
y = np.load(*glob.glob(sys.argv[1] + ".out/*logits.npy")).astype(float)
p = np.exp(y) / np.exp(y).sum(1, keepdims=True)
for row, said in zip(p, json.load(open("said.json"))["predictions"]):
    assert abs(row[said["label"]] - said["probability"]) < 1e-5, (row, said)
PY
}
texts="input_ids=ids.npy attention_mask=mask.npy"
set -- --tokenizer bytes --length 24 --batch 4

# a head, frozen in part or whole, and factors beside a matrix: the file says of three texts at once what predict says
for how in "" "--lora 4 --on *query*" "--freeze *bias" "--freeze head*"; do
    rm -rf run
    set -f
    tiny bert-tiny --data train.tsv --labels 2 "$@" --steps 4 $how -o run
    set +f
    fits run $texts token_type_ids=types.npy
    says run
done

# a model that was trained before: a new head is put on what it says, or its own is trained on; again and again
how=again
tiny run.onnx --data train.tsv --labels 2 "$@" --steps 2 -o second
fits second $texts token_type_ids=types.npy
says second
tiny second.onnx --data train.tsv --labels 3 "$@" --freeze 'head.weight' --freeze 'head3.*' --steps 2 -o third
fits third $texts token_type_ids=types.npy
says third
tiny run.onnx --data train.tsv --head none "$@" --steps 2 -o own
fits own $texts token_type_ids=types.npy
says own
tiny gpt2-tiny --data train.tsv --labels 2 "$@" --steps 2 -o gpt2 # has logits already
fits gpt2 $texts
says gpt2

# a model that takes so many examples and tokens alone
expect 0 'wrote' export bert-tiny --dim batch=4 --dim seq=24 -o fixed.onnx
tiny fixed.onnx --data train.tsv --labels 2 "$@" --steps 2 -o fixed
expect 0 'wrote' export fixed -o out.onnx
expect 0 '[4, 2]' show out.onnx
tiny fixed.onnx --task pairs --data pairs.tsv --tokenizer bytes --length 24 --batch 2 --steps 2 -o fixed-pairs
expect 0 'wrote' export fixed-pairs -o out.onnx

tiny bert-tiny --task pairs --data pairs.tsv "$@" --steps 2 -o pairs
fits pairs $texts token_type_ids=types.npy

# a language model: what comes before the text is not asked for; the loss of its logits is the run's
tiny gpt2-tiny --task lm --data song.txt "$@" --steps 4 -o song
fits song $texts
"$python" - <<'PY'
import numpy as np
b = np.frombuffer(open("song.txt", "rb").read(), np.uint8).astype(np.int64)
n = (len(b) - 1) // 24
np.save("song.npy", b[:n * 24].reshape(n, 24)), np.save("all.npy", np.ones((n, 24), np.int64)), np.save("next.npy", b[1:n * 24 + 1])
PY
"$TESSERA" run song.onnx --in input_ids=song.npy --in attention_mask=all.npy --out song.out -q >/dev/null || wrong "song.onnx does not run"
"$TESSERA" eval song --data song.txt --json >song.json
"$python" - <<'PY' || wrong "eval says another loss than the exported logits"
import json, numpy as np
y, t = np.load("song.out/logits.npy").astype(float), np.load("next.npy")
y = y.reshape(len(t), -1)
loss = np.mean(np.log(np.exp(y).sum(1)) - y[np.arange(len(t)), t])
said = json.load(open("song.json"))
assert abs(loss - said["loss"]) < 1e-5 and abs(np.mean(y.argmax(1) == t) - said["accuracy"]) < 1e-9, (loss, said)
PY

# images of another size than the model's own, with the model's head and with one of the run
tiny resnet-tiny --data x=x.npy --data label=label.npy --head none --batch 2 --steps 2 -o images
fits images x=x.npy
tiny resnet-tiny --data x=x.npy --data label=label.npy --labels 10 --batch 2 --steps 2 -o headed
fits headed x=x.npy

# a model whose file says nothing of the shape of what comes out
"$python" - <<'PY'
import json
json.dump({"format": "graph/1", "name": "plain", "opset": {"": 17}, "outputs": [{"name": "y", "dtype": "f32"}],
           "inputs": [{"name": "x", "dtype": "f32", "shape": ["batch", 3, "high", "wide"]}],
           "constants": {"w": {"dtype": "f32", "shape": [10, 3, 1, 1], "data": [i % 7 / 7 for i in range(30)]}},
           "nodes": [{"op": "Conv", "in": ["x", "w"], "out": ["c"]}, {"op": "GlobalMaxPool", "in": ["c"], "out": ["p"]},
                     {"op": "Flatten", "in": ["p"], "out": ["y"]}]}, open("plain.json", "w"))
PY
tiny plain.json --data x=x.npy --data label=label.npy --head none --batch 2 --steps 1 -o plain
fits plain x=x.npy
tiny plain.json --data x=x.npy --data label=label.npy --labels 10 --batch 2 --steps 1 -o topped # its extents are the data's
fits topped x=x.npy

# a dimension that --dim named stays
tiny bert-tiny --data train.tsv --labels 2 "$@" --dim seq=24 --steps 1 -o named
expect 0 'wrote' export named -o named.onnx
expect 2 'export: --dim means nothing here' export named --dim batch=2 -o other.onnx
expect 2 'export: --limit means nothing here' export named --limit steps=1 -o other.onnx
expect 0 '[batch=1, 24]' show named.onnx --dim batch=1
finish
