#!/bin/sh
# A run emitted as a program of its own builds without a warning and trains to the run's bits: the losses, norms and
# rates of every step, all weights, and all that the optimizer keeps.
# ctest: Og
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
command -v make >/dev/null || { echo "skipped: no make"; exit 77; }
"${PYTHON:-python3}" "$SOURCE/tests/train/fixture.py" . || exit 77
cat >compare.py <<'PY'
import glob, json, math, sys
run, steps = sys.argv[1], open(sys.argv[1] + ".tsv").read().split("\n")[1:-1]
rows = [r for r in map(json.loads, open(f"{run}/metrics.jsonl")) if "loss" in r]
assert len(rows) == len(steps) > 0, (len(rows), len(steps))
for row, line in zip(rows, steps):
    for key, value in zip(("step", "loss", "grad_norm", "lr"), map(float, line.split("\t"))):
        if row[key] is None:
            assert not math.isfinite(value), (key, row, line)
        else:
            assert abs(row[key] - value) <= 2.3e-16 * value, (key, row, line)  # a row of metrics may have 15 digits
last = sorted(glob.glob(f"{run}/checkpoints/step-*"))[-1]
for is_, was in (("trained", "weights"), ("trained-optimizer", "optimizer")):
    assert open(f"{run}.c/{is_}.safetensors", "rb").read() == open(f"{last}/{was}.safetensors", "rb").read(), was
PY
# follows RUN [MAKE-ARGUMENT...]: emits a run, builds it, has it train, compares
follows() {
    run=$1
    shift
    expect 0 "wrote $run.c; build it" emit "$run" --train -o "$run.c" --threads 2
    make -s -C "$run.c" CC="${TESSERA_CC:-gcc}" CPPFLAGS="-Wall -Wextra -Werror" "$@" >log 2>&1 || wrong "$run: it does not build" "$(head -c 900 log)"
    [ -s log ] && wrong "$run: make is not quiet" "$(head -c 300 log)"
    (cd "$run.c" && ./train >"../$run.tsv" 2>"../$run.err") || wrong "$run: the program fails"
    "${PYTHON:-python3}" compare.py "$run" || wrong "$run: the program trains to other bits"
}
train() { # RUN ARGUMENT...
    "$TESSERA" train "$@" -q || wrong "train $* fails"
}

# a classifier with all that a step can have, compiled as everywhere; the others with what the build names, program and run
hasty=${TESSERA_CC:-gcc}
unset TESSERA_CC
set -- model.json --tokenizer vocab.txt --length 12 --batch 8 --lr 0.05 -q
train "$@" --data train.tsv --labels 2 --steps 30 --dropout 0.3 --accumulate 2 --ema 0.9 --clip 0.5 --schedule cosine --warmup 5 --label-smoothing 0.1 \
    --weight-decay 0.1 -o all
follows all
if command -v clang >/dev/null; then
    make -s -C all.c clean && make -s -C all.c CC=clang CPPFLAGS="-Wall -Wextra -Werror" >log 2>&1 && [ ! -s log ] ||
        wrong "clang warns" "$(head -c 900 log)"
fi
TESSERA_CC=$hasty
export TESSERA_CC
# other data and tasks: pairs, a stream of tokens, arrays, a loss of the model's own
sed 's/\(.*\)	.*/\1	\1/' train.tsv >pairs.tsv
train "$@" --data pairs.tsv --task pairs --pool cls --steps 24 --precision f16 --loss-scale 1e9 -o pairs
follows pairs
grep -q '"grad_norm":null' pairs/metrics.jsonl && tail -1 pairs.tsv | grep -v -q 'inf\|nan' || wrong "the loss scale is not tried"
"${PYTHON:-python3}" -c 'import numpy as np; np.random.default_rng(1).integers(0, 8, 500).astype("<u2").tofile("tokens.bin")'
train "$@" --data tokens.bin --task lm --length 7 --steps 6 --optimizer sgd --momentum 0.9 --freeze 'dense*' -o stream
follows stream
if [ -n "${SHARED:-}" ]; then
    mkdir digits && "${PYTHON:-python3}" "$SOURCE/tests/train/digits.py" "$SHARED/data/digits/digits.tsv" digits || exit 77
    train digits/model.json --data x=digits/train_x.npy --data label=digits/train_y.npy --head none --batch 64 --steps 30 --lr 2e-2 \
        --weight-decay 0.1 -o images
    follows images
fi

# what it is given is checked, and stays when it cannot be used
(cd all.c && ./train 31) 2>err && wrong "more steps than data are taken"
grep -q '^usage: ./train \[STEPS\], which is 1 to 30$' err || wrong "not said: how many steps" "$(cat err)"
cp all.c/data.bin data.bin && truncate -s 4000 all.c/data.bin
(cd all.c && ./train) 2>err && wrong "a short data.bin is taken"
grep -q '^data.bin: ' err || wrong "not said: what is wrong with data.bin" "$(cat err)"
expect 8 "cannot write 'all.c': the folder is not empty" emit all --train -o all.c
expect 2 "'model.json' holds no run" emit model.json --train -o new
expect 2 'emit --train: --dim was settled' emit all --train --dim seq=4 -o new
expect 2 'emit: --out is missing' emit all --train
sed -i 1d train.tsv
expect 3 'the training data is not the one' emit all --train -o new
[ -e new ] && wrong "a refusal left something"
finish
