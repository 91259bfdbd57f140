#!/bin/sh
# Numbers that are none: a run that diverges, data and weights that hold NaN. The step, the parameters and the first kernel are
# named, the code is 10, and no state that is not finite is ever saved.
# ctest: Og
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
"${PYTHON:-python3}" "$SOURCE/tests/train/fixture.py" . || exit 77
try() { # CODE RUN ARGUMENT...: leaves what was said in RUN.err
    code=$1 run=$2
    shift 2
    "$TESSERA" train "$@" -q -o "$run" 2>"$run.err"
    got=$?
    [ "$got" = "$code" ] || wrong "train $*: exit code $got, expected $code" "$(cat "$run.err")"
    checked=$((checked + 1))
}
says() { grep -qE -- "$2" "$1.err" || wrong "$1: nowhere $2" "$(cat "$1.err")"; checked=$((checked + 1)); }
set -- model.json --tokenizer vocab.txt --data train.tsv --labels 2 --length 12 --batch 4 --schedule constant --clip 0

# weights that an update has made infinite are not saved
try 10 leaps "$@" --steps 50 --lr 1e3 --optimizer sgd --weight-decay 1000 --momentum 1 --save-every 1
says leaps 'after step [0-9]+ "[a-z.]+" is no longer finite: it is not saved'
"${PYTHON:-python3}" - <<'PY' || wrong "a state that is not finite was saved"
import glob, json, struct, numpy as np
for path in glob.glob("leaps/checkpoints/*/*.safetensors"):
    data = open(path, "rb").read()
    n = struct.unpack("<Q", data[:8])[0]
    for k, v in json.loads(data[8:8 + n]).items():
        if v.get("dtype") == "F32":
            a, b = v["data_offsets"]
            assert np.isfinite(np.frombuffer(data[8 + n + a:8 + n + b], np.float32)).all(), (path, k)
PY

# a NaN in the data: its example is named; skipped, it costs one step an epoch
"${PYTHON:-python3}" - <<'PY'
import json, numpy as np
rng = np.random.default_rng(3)
x, w = rng.standard_normal((40, 6)).astype(np.float32), rng.standard_normal((6, 2)).astype(np.float32)
np.save("y.npy", (x @ w).argmax(1)), np.save("good.npy", x), np.save("real.npy", x[:, 0])
x[23, 4] = np.nan
np.save("x.npy", x)
x[23, 4] = np.inf
np.save("infinite.npy", x)
np.save("none.npy", x * np.float32("nan")), np.save("zeros.npy", np.zeros(40, int))
header, data = {}, w.tobytes()
header = json.dumps({"w": {"dtype": "F32", "shape": [6, 2], "data_offsets": [0, 48]}}).encode()
for name, first in (("line", w), ("broken", w * np.float32("nan"))):
    open(name + ".safetensors", "wb").write(len(header).to_bytes(8, "little") + header + first.tobytes())
    json.dump({"format": "graph/1", "name": name, "opset": {"": 17}, "weights": {"file": name + ".safetensors"},
               "inputs": [{"name": "x", "dtype": "f32", "shape": ["batch", 6]}], "outputs": [{"name": "y"}],
               "nodes": [{"op": "MatMul", "in": ["x", "w"], "out": ["y"]}]}, open(name + ".json", "w"))
PY
set -- --data label=y.npy --head none --batch 8 --epochs 3 --lr 0.01
try 10 data line.json --data x=x.npy "$@"
says data 'the gradient of w is not finite; the data has a NaN: example 23 of "x"'
says data "tessera train --resume data --on-nan skip"
try 10 far line.json --data x=infinite.npy "$@"
says far 'the data has an infinity: example 23 of "x"'
expect 0 'skipped; the gradient of w is not finite; the data has a NaN: example 23 of "x"' train --resume data --on-nan skip
[ "$(grep -c '"skipped":true' data/metrics.jsonl)" = 3 ] || wrong "three epochs with a bad example skip another number of steps"
grep -q '3 steps were skipped' data/report.html || wrong "the page does not tell of skipped steps"

# outputs that are none are said of, and name no class
expect 0 'for 1 of 40 examples the outputs are NaN or infinite, first for example 23' eval data --data x=x.npy --data label=y.npy
"$TESSERA" eval data --data x=none.npy --data label=zeros.npy --json >none.eval 2>/dev/null
grep -q '"accuracy":[[:space:]]*0,' none.eval || wrong "a class is said where there is no number" "$(cat none.eval)"
expect 0 'warning: step 5: for 1 of 40 examples the outputs are NaN or infinite, first for example 23' train line.json \
    --data x=good.npy "$@" --epochs 1 --eval x=x.npy --eval label=y.npy -q -o judged
mkdir texts && cp model.json weights.safetensors vocab.txt texts
"$TESSERA" train texts/model.json --tokenizer texts/vocab.txt --data train.tsv --labels 2 --length 12 --steps 2 --freeze 'dense.bias' \
    -q -o frozen || wrong "training with a weight that stays fails"
"${PYTHON:-python3}" - <<'PY'
import json
data = bytearray(open("texts/weights.safetensors", "rb").read())
n = int.from_bytes(data[:8], "little")
a, b = json.loads(data[8:8 + n])["dense.bias"]["data_offsets"]
data[8 + n + a:8 + n + b] = b"\0\0\xc0\x7f" * ((b - a) // 4)
open("texts/weights.safetensors", "wb").write(data)
PY
expect 0 'for 1 of 1 examples the outputs are NaN or infinite, first for example 0' predict frozen --text 'a superb film'

# a learning rate that is too high: errors grow until their square is an infinity, and its kernel is named
try 10 grows line.json --data x=good.npy --data label=real.npy --task regress --batch 8 --epochs 100 --lr 4 --optimizer sgd \
    --schedule constant --clip 0 --save-every 3
says grows 'error: step [0-9]+: the loss is [0-9.e+inf]+ and the gradient norm (inf|nan).*; the first kernel with an infinity is k[0-9]+ \([a-z_]+[^)]*\), in [0-9]+ of [0-9]+ values'
says grows 'the last state that is saved is that after step [0-9]+; a smaller --lr'
grep -q 'Loss by step' grows/report.html || wrong "a run that diverged has no page"
"$TESSERA" eval grows --data x=good.npy --data label=real.npy >/dev/null || wrong "the last state of a run that diverged is of no use"

# a weight that is none before the first step: every step fails, and after ten more in a row it is over
try 10 broken broken.json --data x=good.npy "$@"
says broken 'step 1: the loss is NaN and the gradient norm NaN; .*; "w" has a NaN before the step, in 12 of 12 places'
says broken 'no state of the run is saved'
try 10 never broken.json --data x=good.npy "$@" --on-nan skip --save-every 100
says never 'step 11: the loss is NaN .*; so were the ten steps before'
finish
