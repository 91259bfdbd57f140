#!/bin/sh
# plainc_test.sh - a step of training of GPT-2 beside one in plain C: losses and gradient norms of four steps agree in f32,
# both are timed, and what it does not compute it says.  ctest: O1
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
python=
for one in "${PYTHON:-python3}" python3 /usr/bin/python3; do
    "$one" -c 'import numpy' 2>/dev/null && python=$one && break
done
[ "$python" ] || { echo "skipped: no Python with numpy"; exit 77; }
: | ${CC:-cc} -fopenmp -xc - -E -o /dev/null 2>/dev/null || { echo "skipped: no C compiler with OpenMP"; exit 77; }
"$TESSERA" export gpt2-tiny --dim batch=3 --dim seq=11 -o gpt2.onnx -q # 33 rows: no whole number of tiles
model=gpt2.onnx
bench() { # OPTION...
    "$TESSERA" bench "$model" --train --batch 3 --length 11 --peer plainc --peer-python "$python" --launches 1 \
        --min-time 20ms --json -q "$@" >out.json 2>err || wrong "bench $*: $(cat err)"
}
holds() {
    checked=$((checked + 1))
    "$python" -c "import json; r = json.load(open('out.json')); (p,) = r['peers']; assert $1, p" 2>err || wrong "$(tail -1 err)"
}
for options in '--threads 2 --clip 0.01' '--threads 2 --clip 0'; do
    # shellcheck disable=SC2086
    bench --task lm $options
    holds 'p["status"] == "VALID" and p["settings"]["optimizer"] == "AdamW"'
    # f32 with sums of 1024 terms in any order, in numbers around 9; the second to fourth step follow from gradients
    holds '0 < p["numerics"]["max_rel"] < 4e-6 and r["model"]["outputs"][0]["shape"] == [4]'
    holds 'r["comparisons"][0]["ratio"] > 0 and p["stats"]["median_ns"] > 0'
done
model=gpt2-tiny # becomes an ONNX file for the peer by itself
bench --task lm --threads 2
holds 'p["status"] == "VALID" and 0 < p["numerics"]["max_rel"] < 4e-6 and r["model"]["name"] == "gpt2-tiny"'
model=gpt2.onnx
bench --task lm --optimizer sgd --threads 2
holds 'p["status"] == "ABSENT" and p["reason"] == "its training step is AdamW in f32 on all weights, with --task lm"'
sed -i 's/wte\.weight/xte.weight/g' gpt2.onnx # as in no checkpoint
bench --task lm --threads 2
holds 'p["status"] == "ABSENT" and p["reason"].startswith("it has a training step of GPT-2 with weights named as in")'
finish
