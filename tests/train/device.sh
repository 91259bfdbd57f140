# device.sh - for the tests of devices, which say $target and $part before they source it: some steps of training there are
# those of the processor, checkpoints go from one to the other, and what was trained is asked and goes on with a text as it
# does here. part: slice, or all.
# shellcheck shell=sh disable=SC2154
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
PYTHON=${PYTHON:-python3}
"$PYTHON" "$SOURCE/tests/train/fixture.py" . || exit 77

# alike RUN SHARE ARGUMENT...: five steps on the processor and on the device are alike
alike() {
    run=$1 share=$2
    shift 2
    for on in c "$target"; do
        begun=$(date +%s)
        "$TESSERA" train "$@" --steps 5 --save-every 1 --keep 9 -q --target "$on" -o "$run.$on" || wrong "$run: train on $on fails"
        [ "$on" = c ] || echo "$run: $(($(date +%s) - begun)) s"
        checked=$((checked + 1))
    done
    "$PYTHON" "$SOURCE/tests/train/alike.py" "$run.c" "$run.$target" "$share" || wrong "$run: trained on $target it is another"
}

text="model.json --tokenizer vocab.txt --data train.tsv --labels 2 --length 12 --batch 8"
# all that a step can have
rich="$text --lr 0.05 --eps 1e-3 --dropout 0.3 --accumulate 2 --ema 0.9 --clip 0.5 --schedule cosine --warmup 2 \
    --label-smoothing 0.1 --weight-decay 0.1"
yes 'to be or not to be, that is the question.' | head -20 >text.txt
words="gpt2-tiny --task lm --tokenizer bytes --data text.txt --length 16 --batch 1 --lr 5e-3 --weight-decay 0 --eps 1e-3"
"$PYTHON" - <<'PY'
import numpy as np
rng = np.random.default_rng(2)
y = rng.integers(0, 10, 10)
np.save("x.npy", (rng.normal(0, 1, (10, 3, 16, 16)) + y[:, None, None, None] / 5).astype(np.float32)), np.save("y.npy", y)
PY

# a lower precision with a loss scale that overflows at first, factors beside weights
# shellcheck disable=SC2086
slice() {
    alike all 1e-4 $rich
    alike f16 0.02 $text --lr 0.05 --precision f16 --loss-scale 1e6 --growth-interval 2 --optimizer sgd --momentum 0.9
    grep -q '"grad_norm":null' f16.c/metrics.jsonl || wrong "no step overflows: the loss scale is not tried"
    alike factors 0.05 $words --lora 2 --on '*c_attn*' --precision bf16
    asked
}

# what is trained here goes on there and the other way round, is judged there, and goes on with a text
# shellcheck disable=SC2086
asked() {
    for way in "c $target" "$target c"; do
        run=first-${way%% *}
        "$TESSERA" train $rich --steps 2 --total-steps 5 --target "${way%% *}" -q -o "$run" &&
            "$TESSERA" train $rich --steps 5 --total-steps 5 --target "${way##* }" -q --save-every 1 --keep 9 \
                --resume -o "$run" || wrong "$run: a run does not go on elsewhere"
        checked=$((checked + 1))
    done
    "$PYTHON" "$SOURCE/tests/train/alike.py" first-c "first-$target" 1e-4 || wrong "going on elsewhere gives another run"
    for on in c "$target"; do
        "$TESSERA" eval first-c --data dev.tsv --json --target $on >eval.$on || wrong "eval on $on fails"
        "$TESSERA" predict first-c --text 'the film was superb' --json --target $on >predict.$on || wrong "predict on $on fails"
        "$TESSERA" generate factors.c --prompt 'to be' --max-tokens 9 --target $on 2>err >said.$on || wrong "generate on $on fails"
        grep -q 'whole window' err && wrong "generate on $on keeps nothing" "$(cat err)"
        "$TESSERA" generate factors.c --prompt 'to be' --max-tokens 9 --temperature 2 --seed 3 -q --target $on >drawn.$on ||
            wrong "generate on $on fails"
    done
    cmp said.c "said.$target" && cmp drawn.c "drawn.$target" || wrong "generate on $target says something else"
    "$PYTHON" - "$target" <<'PY' || wrong "what was trained is judged otherwise on $target"
import json, sys
def close(a, b, at):
    assert type(a) is type(b), (at, a, b)
    if isinstance(a, dict):
        assert a.keys() == b.keys(), (at, a, b)
        for k in a:
            if k not in ("seconds", "tokens_per_s"):
                close(a[k], b[k], k)
    elif isinstance(a, list):
        assert len(a) == len(b), (at, a, b)
        for x, y in zip(a, b):
            close(x, y, at)
    elif isinstance(a, float):
        assert abs(a - b) <= 1e-4 * max(abs(a), 1), (at, a, b)
    else:
        assert a == b, (at, a, b)
for what in ("eval", "predict"):
    close(json.load(open(f"{what}.c")), json.load(open(f"{what}.{sys.argv[1]}")), what)
PY
    checked=$((checked + 1))
}

# every optimizer, every precision, the built-in models
# shellcheck disable=SC2086
whole() {
    slice
    for optimizer in adam adafactor lion; do
        alike $optimizer 1e-3 $text --lr 0.01 --optimizer $optimizer
    done
    alike nesterov 1e-4 $text --lr 0.05 --optimizer sgd --momentum 0.9 --nesterov
    alike bf16 0.05 $text --lr 0.05 --eps 1e-3 --precision bf16
    alike bert 1e-3 bert-tiny --tokenizer vocab.txt --data train.tsv --labels 2 --length 12 --batch 4 --lr 1e-3 --eps 1e-3
    alike bert-f16 0.05 bert-tiny --tokenizer vocab.txt --data train.tsv --labels 2 --length 12 --batch 4 --lr 1e-3 --eps 1e-3 \
        --precision f16 --dropout 0.1
    alike words 1e-3 $words
    alike words-bf16 0.05 $words --precision bf16 --dropout 0.1 --dropout-on '*c_attn*'
    alike images 1e-3 resnet-tiny --data x=x.npy --data label=y.npy --head none --batch 2 --lr 1e-2 --optimizer sgd --momentum 0.9
}
[ "$part" = all ] && whole || slice
finish
