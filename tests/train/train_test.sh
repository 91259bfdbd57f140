#!/bin/sh
# Training a tiny model: it learns; the bits do not depend on threads; a killed, stopped or damaged run goes on to the same
# bits as one left alone.
# ctest: Og
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
"${PYTHON:-python3}" "$SOURCE/tests/train/fixture.py" . || exit 77
set -- model.json --tokenizer vocab.txt --data train.tsv --labels 2 --length 12 --batch 8 --epochs 3 --lr 0.1
last=checkpoints/step-00000120
same() { cmp -s "$1/$last/weights.safetensors" "$2/$last/weights.safetensors" &&
    cmp -s "$1/$last/optimizer.safetensors" "$2/$last/optimizer.safetensors"; }

# it learns, and says so
expect 0 '40 examples' train "$@" --eval dev.tsv --threads 1 -o one
expect 0 '"accuracy"' eval one --data dev.tsv --json
"${PYTHON:-python3}" - <<'PY' || wrong "the run did not learn, or metrics.jsonl is not whole"
import json
rows = [json.loads(line) for line in open("one/metrics.jsonl")]
steps = [r for r in rows if "loss" in r]
assert [r["step"] for r in steps] == list(range(120)), steps
assert steps[-1]["loss"] < 0.3 < steps[0]["loss"], (steps[0], steps[-1])
assert [r for r in rows if "eval_accuracy" in r][-1]["eval_accuracy"] >= 0.9
assert abs(steps[0]["lr"] - 0.1 / 12) < 1e-12 and steps[-1]["lr"] < 0.004
PY
expect 0 '1	' predict one --text 'the film was superb'
expect 0 '0	' predict one --text 'the film was awful'

# the exported model gives the same probability without a run
expect 0 'tuned.onnx' export one -o tuned.onnx
"$TESSERA" predict one --text 'the film was superb' --json >said.json
"${PYTHON:-python3}" - <<'PY'
import numpy as np
words = open("vocab.txt").read().split("\n")
ids = [words.index(w) for w in "[CLS] the film was superb [SEP] [PAD] [PAD]".split()]
np.save("ids.npy", np.array([ids], np.int64)), np.save("mask.npy", np.array([[i != 0 for i in ids]], np.int64))
PY
expect 0 'logits' run tuned.onnx --in input_ids=ids.npy --in attention_mask=mask.npy --out tuned
"${PYTHON:-python3}" - <<'PY' || wrong "the exported model says something else"
import json, numpy as np
y = np.load("tuned/logits.npy").astype(float)[0]
p = np.exp(y) / np.exp(y).sum()
said = json.load(open("said.json"))["predictions"][0]
assert abs(p[said["label"]] - said["probability"]) < 1e-6, (p, said)
PY

# two threads, the same bits
expect 0 '120/120' train "$@" --threads 2 -o two
same one two || wrong "the bits depend on the number of threads"

# killed again and again
n=0
while [ ! -d "killed/$last" ] && [ $n -lt 12 ]; do
    again=
    [ -e killed/run.json ] && again=--resume
    timeout -s KILL "$(awk -v n=$n 'BEGIN { print 0.2 + n * 0.13 }')" "$TESSERA" train "$@" --save-every 1 -q -o killed $again
    n=$((n + 1))
done
"$TESSERA" train --resume killed -q || wrong "a killed run does not go on"
checked=$((checked + 1))
same one killed || wrong "killed $n times, a run ends with other bits"

# stopped: finishes the step, saves, 130
"$TESSERA" train "$@" --steps 100000 --total-steps 120 --schedule constant -q -o stopped 2>stopped.err &
child=$!
while [ ! -s stopped/metrics.jsonl ] && kill -0 $child 2>/dev/null; do sleep 0.1; done
kill -INT $child
wait $child
[ $? = 130 ] || wrong "SIGINT did not end with 130" "$(cat stopped.err)"
ls stopped/checkpoints/step-* >/dev/null || wrong "SIGINT saved nothing"

# under nohup it goes on when its terminal is gone
nohup "$TESSERA" train "$@" --steps 3000 --save-every 3000 -q -o kept 2>kept.err &
child=$!
while [ ! -s kept/metrics.jsonl ] && kill -0 $child 2>/dev/null; do sleep 0.1; done
kill -HUP $child
wait $child || wrong "under nohup, SIGHUP ends a run" "$(cat kept.err)"
[ -d kept/checkpoints/step-00003000 ] || wrong "under nohup, SIGHUP stops a run"

# a damaged newest checkpoint: the one before it is used, and that is said
cp -r two damaged
printf X | dd of="damaged/$last/weights.safetensors" bs=1 seek=900 conv=notrunc 2>/dev/null
expect 0 'is damaged' train --resume damaged
same one damaged || wrong "going on from the checkpoint before ends with other bits"
cp -r two short
truncate -s 200 "short/$last/optimizer.safetensors"
expect 0 'is damaged' train --resume short
same one short || wrong "going on from the checkpoint before a cut one ends with other bits"
finish
