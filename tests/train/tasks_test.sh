#!/bin/sh
# What can be learnt beside classes: numbers, pairs of texts, the next token, a loss of the model's own. Each learns what its
# data says, and is judged by it.
# ctest: large
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
"${PYTHON:-python3}" "$SOURCE/tests/train/fixture.py" . || exit 77
learns() { # RUN ABOVE BELOW: the first loss is above, what eval says of dev.* below
    "${PYTHON:-python3}" - "$@" <<'PY' || wrong "$1 does not learn"
import json, sys
run, above, below = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
first = json.loads(open(f"{run}/metrics.jsonl").readline())["loss"]
last = json.load(open(f"{run}.json"))
print(run, first, last)
assert first > above > below > last["loss"] and last["n"] > 0, (first, last)
PY
}
set -- model.json --tokenizer vocab.txt --length 12 --batch 8 --lr 0.05 --epochs 2 -q

# a number: 3 for good films, -2 for bad ones
for f in train dev; do awk -F'\t' '{ print $1 "\t" ($2 ? 3 : -2) }' $f.tsv >$f.real.tsv; done
"$TESSERA" train "$@" --data train.real.tsv --task regress --epochs 8 --lr 0.1 -o real || wrong "regress fails"
"$TESSERA" eval real --data dev.real.tsv --json >real.json || wrong "eval of regress fails"
learns real 3 1
expect 0 'film' predict real --text 'a superb film'
# pairs: the same words in another order, as JSON Lines
for f in train dev; do
    awk -F'\t' '{ n = split($1, w, " "); s = w[n]; for (i = n - 1; i; i--) s = s " " w[i]
        printf "{\"text\": \"%s\", \"text2\": \"%s\"}\n", $1, s }' $f.tsv >$f.pairs.jsonl
done
"$TESSERA" train "$@" --data train.pairs.jsonl --task pairs -o pairs || wrong "pairs fails"
"$TESSERA" eval pairs --data dev.pairs.jsonl --json >pairs.json || wrong "eval of pairs fails"
expect 0 'wrote pairs.onnx' export pairs -o pairs.onnx
# a loss of the model's own: made as small as it goes
"$TESSERA" train "$@" --data train.tsv --loss total --steps 20 -o total || wrong "--loss fails"
"$TESSERA" eval total --data dev.tsv --json >total.json || wrong "eval of --loss fails"
learns total -60 -100
expect 3 'the output "hidden" has rank 3' train "$@" --data train.tsv --loss hidden -o none
expect 2 'the model has no output "tootal"' train "$@" --data train.tsv --loss tootal -o none

# the next token, from scratch, by a model that could go on from a past: of text, of JSON Lines, of raw tokens
yes 'to be or not to be, that is the question.' | head -60 >text.txt
"${PYTHON:-python3}" - <<'PY'
import json, numpy as np
text = open("text.txt").read()
open("text.jsonl", "w").write("".join(json.dumps({"text": line}) + "\n" for line in text.split("\n")[:-1]))
np.frombuffer(text.encode(), np.uint8).astype("<u2").tofile("text.bin")
PY
set -- gpt2-tiny --task lm --tokenizer bytes --length 24 --batch 4 --steps 60 --lr 5e-3 --weight-decay 0 -q
for kind in txt jsonl bin; do
    "$TESSERA" train "$@" --data text.$kind -o lm.$kind || wrong "--task lm of text.$kind fails"
done
"$TESSERA" eval lm.txt --data text.txt --json >lm.txt.json || wrong "eval of lm fails"
learns lm.txt 4 1.5
last=checkpoints/step-00000060/weights.safetensors
cmp lm.txt/$last lm.jsonl/$last || wrong "JSON Lines are not the text in them"
cmp lm.txt/$last lm.bin/$last || wrong "raw tokens are not the text's"
# it goes on with keys and values kept, to the same text
"$TESSERA" generate lm.txt --prompt 'to be or' --max-tokens 16 2>err >kept || wrong "generate fails"
grep -q 'whole window' err && wrong "nothing is kept" "$(cat err)"
"$TESSERA" generate lm.txt --prompt 'to be or' --max-tokens 16 --no-cache -q >all
cmp kept all || wrong "with what is kept the text is another"
"$TESSERA" generate lm.txt --prompt 'to be' --max-tokens 19 --temperature 1.5 --seed 5 -q >kept
"$TESSERA" generate lm.txt --prompt 'to be' --max-tokens 19 --temperature 1.5 --seed 5 --no-cache -q >all
cmp kept all || wrong "drawn with what is kept the text is another"
finish
