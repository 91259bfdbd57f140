#!/bin/sh
# Rules that say "recompute" take memory from a training step and leave its bits as they are: losses, norms, weights and what
# the optimizer keeps, for a transformer and for a network of images, with dropout, halves, factors and several batches a
# step, in a run that goes on with other rules, and as a program of its own. What they save is told.
# ctest: large
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
"${PYTHON:-python3}" -c 'import numpy' 2>/dev/null || { echo "skipped: no numpy"; exit 77; }
i=0
while [ $((i += 1)) -le 64 ]; do printf 'a fine film number %s\t1\nthe dullest hour, number %s of many\t0\n' $i $i; done >train.tsv
seq 1 4000 | tr '\n' ' ' >text.txt
PYTHONPATH=$SOURCE/tests/train "${PYTHON:-python3}" - <<'PY'
import json, os
import numpy as np
from weights import save
rng = np.random.default_rng(1)
np.save("y.npy", rng.integers(0, 8, 64))
def images(name, channels, size, blocks):  # blocks of two convolutions and what is handed round them
    tensors, nodes = {}, []
    np.save(f"{name}.npy", rng.standard_normal((64, channels, size, size)).astype(np.float32))
    for i in range(blocks):
        for w in (f"w{i}", f"v{i}"):
            tensors[w] = rng.standard_normal((channels, channels, 3, 3)) / 3 / channels ** 0.5
        conv = lambda x, w, y: {"op": "Conv", "in": [x, w], "out": [y], "attr": {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}}
        x = f"x{i}" if i else "x"
        nodes += [conv(x, f"w{i}", f"a{i}"), {"op": "Relu", "in": [f"a{i}"], "out": [f"b{i}"]}, conv(f"b{i}", f"v{i}", f"c{i}"),
                  {"op": "Add", "in": [x, f"c{i}"], "out": [f"s{i}"]}, {"op": "Sigmoid", "in": [f"s{i}"], "out": [f"x{i + 1}"]}]
    nodes += [{"op": "GlobalAveragePool", "in": [f"x{blocks}"], "out": ["p"]}, {"op": "Flatten", "in": ["p"], "out": ["logits"]}]
    save(tensors)
    os.rename("weights.safetensors", f"{name}.safetensors")
    json.dump({"format": "graph/1", "name": name, "opset": {"": 17}, "weights": {"file": f"{name}.safetensors"}, "nodes": nodes,
               "inputs": [{"name": "x", "dtype": "f32", "shape": ["batch", channels, size, size]}],
               "outputs": [{"name": "logits"}]}, open(f"{name}.json", "w"))
images("images", 8, 16, 2)
images("wide", 48, 8, 1)
PY
rule() { # FILE MATCH: a schema of one rule
    echo "{ \"format\": \"tiling/1\", \"rules\": [ { \"name\": \"${1%.json}\", \"match\": $2, \"recompute\": true } ] }" >"$1"
}
rule attention.json '{ "op": ["attention", "softmax", "gelu", "layer_norm", "erf"] }'
rule relu.json '{ "op": "relu" }'
rule all.json '{}'
bytes() { "${PYTHON:-python3}" -c 'import json, sys; print(int(json.load(open(sys.argv[1]))["step"]["bytes"]))' "$1"; }

# same_bits NAME SCHEMA ARGUMENT...: a run under the schema ends with the bits of the run NAME without
same_bits() {
    name=$1 schema=$2
    shift 2
    [ -d "$name" ] || "$TESSERA" train "$@" -o "$name" --json -q >"$name.out" || wrong "train $* fails"
    rm -rf again
    "$TESSERA" train "$@" -s "$schema" -o again --json -q >again.out 2>err || wrong "train $* -s $schema fails" "$(cat err)"
    last=$(ls "$name/checkpoints" | tail -1)
    for f in weights optimizer; do
        cmp "$name/checkpoints/$last/$f.safetensors" "again/checkpoints/$last/$f.safetensors" || wrong "$name, $schema: other $f"
    done
    for r in "$name" again; do sed 's/"ms":.*//' "$r/metrics.jsonl" >"$r.rows"; done
    cmp "$name.rows" again.rows || wrong "$name, $schema: another loss or norm"
    checked=$((checked + 1))
}
same() { # the same, and it takes less
    same_bits "$@"
    [ "$(bytes again.out)" -lt "$(bytes "$name.out")" ] || wrong "$name, $schema: no memory is saved"
}
set -- gpt2-tiny --data train.tsv --labels 2 --tokenizer bytes --length 32 --batch 8 --steps 3 --lr 1e-3
same text all.json "$@" --dropout 0.3
same factors attention.json "$@" --lora 4 --on '*c_attn*' --on '*c_fc*' --accumulate 2
set -- gpt2-tiny --task lm --data text.txt --tokenizer bytes --length 32 --batch 4 --steps 3
same lm attention.json "$@"
same halves all.json "$@" --precision bf16
set -- images.json --data x=images.npy --data label=y.npy --head none --batch 32 --steps 3
same images all.json "$@"
# sums that a schema forms in pieces: the same ones under both
loops='"loops": "ic/16 n@core oh oc/8 ow/4 kh kw ic ow@unroll oc@vector"'
echo "{ \"format\": \"tiling/1\", \"rules\": [ { \"name\": \"pieces\", \"match\": { \"op\": \"conv2d\" }, $loops } ] }" >pieces.json
sed 's/"loops"/"recompute": true, "loops"/' pieces.json >again.json
set -- wide.json --data x=wide.npy --data label=y.npy --head none --batch 16 --steps 2
"$TESSERA" train "$@" -s pieces.json -o wide --json -q >wide.out || wrong "train $* -s pieces.json fails"
same_bits wide again.json "$@"
"$TESSERA" explain again -s again.json >wide.txt
grep -q 'values recomputed instead of saved' wide.txt || wrong "wide: nothing is computed again"
grep -q '^ *ic/16 ' wide.txt || wrong "wide: no sum is cut"

# a run goes on under another schema: nothing of it is of the run
set -- gpt2-tiny --data train.tsv --labels 2 --tokenizer bytes --length 32 --batch 8 --lr 1e-3 --dropout 0.3 --total-steps 3 --warmup 0
"$TESSERA" train "$@" --steps 1 -s all.json -q -o parts || wrong "train fails"
"$TESSERA" train --resume parts --steps 2 -q || wrong "resume without a schema fails"
"$TESSERA" train --resume parts --steps 3 -s attention.json -q || wrong "resume with another schema fails"
cmp text/checkpoints/step-00000003/weights.safetensors parts/checkpoints/step-00000003/weights.safetensors || wrong "a resumed run has other bits"
# as a program
if command -v make >/dev/null; then
    "$TESSERA" emit parts --train -s all.json --threads 1 -o program -q || wrong "emit fails"
    make -s -C program CC="${TESSERA_CC:-gcc}" CPPFLAGS="-Wall -Wextra -Werror" >log 2>&1 || wrong "the program does not build" "$(head -c 900 log)"
    (cd program && ./train >/dev/null 2>&1) || wrong "the program fails"
    cmp program/trained.safetensors text/checkpoints/step-00000003/weights.safetensors || wrong "the program trains to other bits"
fi

# what is told of memory is what the plans differ by
saves() { # SCHEMA ARGUMENT...
    schema=$1
    shift
    "$TESSERA" train "$@" --steps 1 --dry-run --json -q -o none >kept.json || wrong "train $* fails"
    "$TESSERA" train "$@" --steps 1 --dry-run --json -q -o none -s "$schema" >less.json || wrong "train $* -s $schema fails"
    "${PYTHON:-python3}" - <<'PY' || wrong "$*, $schema: other memory is told than is saved"
import json
kept, less = (json.load(open(f))["step"] for f in ("kept.json", "less.json"))
told, saved = sum(r["saved_bytes"] for r in less["recompute"]), kept["alive_bytes"] - less["alive_bytes"]
assert told == saved, (told, saved)
PY
    checked=$((checked + 1))
}
saves relu.json images.json --data x=images.npy --data label=y.npy --head none --batch 32
saves all.json gpt2-tiny --task lm --data text.txt --tokenizer bytes --length 32 --batch 4
"${PYTHON:-python3}" -c 'import numpy as np; np.save("rgb.npy", np.zeros((64, 3, 40, 40), np.float32))'
saves relu.json resnet-tiny --data x=rgb.npy --data label=y.npy --head none --batch 32

# what is told
expect 0 'MiB less at once' train "$@" --steps 3 -s attention.json --dry-run -o none
expect 0 'recompute: rule "attention": ' explain parts -s attention.json
expect 0 '"recompute":	[{' explain parts -s attention.json --json
expect 0 'rule "relu" recomputes nothing: none of the forward pass fits; it has ' explain parts -s relu.json
expect 0 'rule "attention" recomputes nothing: the plan has no backward pass' explain bert-tiny -s attention.json
expect 0 'kernels follow its rules' schema lint attention.json parts
expect 0 'rule "relu" recomputes nothing: none of the forward pass fits; it has ' schema lint relu.json parts
expect 2 'schema: --dim was settled when the run' schema lint relu.json parts --dim seq=8
expect 2 'explain: --dim was settled when the run' explain parts --dim seq=8
rule broken.json '{ "op": "softmaxx" }'
expect 3 'no operation "softmaxx"' train "$@" --steps 3 -s broken.json -o none
sed 's/"recompute": true/"recompute": "yes"/' all.json >broken.json
expect 3 '(/rules/0/recompute): a truth value expected, not text' train "$@" --steps 3 -s broken.json -o none
finish
