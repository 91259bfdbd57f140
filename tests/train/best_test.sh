#!/bin/sh
# The best step is the best loss among equal accuracies: it stays on disk, export --best takes it, --patience waits for it.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
"${PYTHON:-python3}" "$SOURCE/tests/train/fixture.py" . || exit 77
head -8 dev.tsv >few.tsv
awk -F'\t' '{ print $1 "\t" (NR == 3 ? 1 - $2 : $2) }' few.tsv >one-wrong.tsv
set -- model.json --tokenizer vocab.txt --data train.tsv --length 12 --batch 8 --lr 0.05 --epochs 9
expect 2 '--patience: --task classify is not evaluated' train "$@" --patience 2 -o none
# an optimizer that does not move: every evaluation is the first one's equal
"$TESSERA" train "$@" --lr 0 --weight-decay 0 --eval few.tsv --eval-every 5 --patience 3 -o still --json >still.json 2>err ||
    wrong "--patience fails" "$(cat err)"
grep -q 'stopped early: no evaluation after step 5 was better, in 3 of --patience 3' err || wrong "it does not stop early" "$(cat err)"
[ "$(grep -c eval_loss still/metrics.jsonl)" = 4 ] || wrong "not four evaluations"
# it goes on when told to wait longer, as one that was told so at once
expect 0 '' train --resume still --patience 5
[ "$(grep -c eval_loss still/metrics.jsonl)" = 6 ] || wrong "not six evaluations"
# one label is wrong: accuracies tie, and the surer the model becomes the larger is the loss
"$TESSERA" train "$@" --lr 0.3 --schedule constant --eval one-wrong.tsv --eval-every 7 --save-every 5 -o run -q || wrong "train fails"
"${PYTHON:-python3}" - <<'PY' || wrong "another step is the best"
import json, os
trials = [r for r in map(json.loads, open("run/metrics.jsonl")) if "eval_loss" in r]
best = max(trials, key=lambda r: (r["eval_accuracy"], -r["eval_loss"]))
assert sum(r["eval_accuracy"] == best["eval_accuracy"] for r in trials) > 1 and best is not trials[-1], trials
step = best["step"] + 1
print("the best step is", step)
open("best", "w").write(f"{step}\n{best['eval_loss']}\n")
kept = sorted(os.listdir("run/checkpoints"))
assert len(kept) == 3 and kept[0] == f"step-{step:08d}", kept
assert f"after step {step}" in open("run/report.html").read()
PY
# what is exported is that step: its weights are those of the checkpoint
expect 0 'wrote best.onnx' export run --best -o best.onnx
expect 0 'wrote last.onnx' export run -o last.onnx
cmp -s best.onnx last.onnx && wrong "the best is the last"
cp -r run only && rm -r only/checkpoints/step-00000355 only/checkpoints/step-00000360
expect 0 'wrote only.onnx' export only -o only.onnx
cmp best.onnx only.onnx || wrong "export --best takes another step"
expect 2 "export --best: 'bert-tiny' is no run" export bert-tiny --best -o none.onnx
"$TESSERA" train "$@" --steps 3 -o blind -q
expect 2 "the run in 'blind' was never evaluated: no step is the best" export blind --best -o none.onnx
finish
