#!/bin/sh
# Fine-tuning a real sentence encoder follows the reference run: losses, gradient norms and those of every parameter at the
# first step within 1e-5. STEPS=40 goes through all of it.
# ctest: long large serial timeout=1800
. "$SOURCE/tests/cli/expect.sh"
[ -n "${SHARED:-}" ] && [ -e "${TESSERA_MODELS:-}/minilm/model.onnx" ] || { echo "no SHARED: the reference run is left out"; exit 77; }
cd "$dir" || exit 1
from=$SHARED/models/minilm
"$TESSERA" train "$TESSERA_MODELS/minilm/model.onnx" --tokenizer "$from/vocab.txt" --data "$SHARED/data/sst2/train.tsv" \
    --labels 2 --pool mean --batch 32 --length 64 --order "$from/finetune/order.tsv" --head "$from/finetune/head.safetensors" \
    --total-steps 648 --steps "${STEPS:-4}" --grad-norms norms.tsv -o run || wrong "the run fails"
checked=1
"${PYTHON:-python3}" - "$from/finetune" <<'PY' || wrong "the run is not the reference's"
import json, sys
table = lambda name: [line.rstrip("\n").split("\t") for line in open(f"{sys.argv[1]}/{name}")][1:]
losses, worst = table("losses.tsv"), 0
for row in map(json.loads, open("run/metrics.jsonl")):
    want = losses[row["step"]]
    worst = max(worst, abs(row["loss"] / float(want[2]) - 1), abs(row["grad_norm"] / float(want[4]) - 1))
norms = dict(line.rstrip("\n").split("\t") for line in open("norms.tsv"))
total = float(losses[0][4])
for name, want, *_ in table("gradients.tsv"):
    worst = max(worst, (abs(float(norms[name]) - float(want)) - 1e-8 * total) / max(float(want), 1e-300) if float(want) > 1e-12 * total
                else abs(float(norms[name])) / total / 1e-3)
print("worst relative difference", worst)
assert worst < 1e-5
PY
finish
