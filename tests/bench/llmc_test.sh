#!/bin/sh
# llmc_test.sh - a step of training of GPT-2 beside a program that TESSERA_LLMC names, here one that stands in for llm.c's: it gets
# weights and batch in its forms, losses of four steps agree, its own times count, and what it does not compute is said.
# ctest: O1
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
python=
for one in "${PYTHON:-python3}" python3 /usr/bin/python3; do
    "$one" -c 'import numpy' 2>/dev/null && python=$one && break
done
[ "$python" ] || { echo "skipped: no Python with numpy"; exit 77; }
${CC:-cc} -std=gnu11 -O3 -march=native -fopenmp -I"$SOURCE" "$SOURCE/tests/llmc/train_gpt2.c" -o train_gpt2 -lm 2>err ||
    { echo "skipped: no C compiler with OpenMP: $(head -1 err)"; exit 77; }
export TESSERA_LLMC="$dir/train_gpt2"
same="--lr 1e-4 --schedule constant --weight-decay 0 --clip 0"
bench() { # OPTION...
    "$TESSERA" bench gpt2-tiny --train --task lm --batch 4 --length 64 --peer llmc --peer-python "$python" --launches 1 \
        --judge c --min-time 20ms --json -q "$@" >out.json 2>err || wrong "bench $*: $(cat err)"
}
holds() {
    checked=$((checked + 1))
    "$python" -c "import json; r = json.load(open('out.json')); (p,) = r['peers']; assert $1, p" 2>err || wrong "$(tail -1 err)"
}
# shellcheck disable=SC2086
bench $same --threads 2
# it prints six digits behind the point of numbers around 10
holds 'p["status"] == "VALID" and p["version"] == "train_gpt2" and p["numerics"]["max_rel"] < 2e-6'
holds 'r["comparisons"][0]["ratio"] > 0 and p["stats"]["median_ns"] > 0'
bench $same --clip 1
holds 'p["status"] == "ABSENT" and p["reason"].startswith("its training step has --task lm --lr 1e-4")'
bench $same --length 32
holds 'p["status"] == "ABSENT" and p["reason"].startswith("its batch is 4 x 64 tokens of one text")'
printf '#!/bin/sh\nhead -c 8 gpt2_124M.bin | od -An -td4; exit 9\n' >ends && chmod +x ends
TESSERA_LLMC="$dir/ends" bench $same
holds 'p["status"] == "INVALID" and "ends with 9 before step 0" in p["reason"]'
TESSERA_LLMC="" expect 2 'that TESSERA_LLMC names is not installed' bench gpt2-tiny --train --task lm --peer llmc --peer-python "$python"
finish
