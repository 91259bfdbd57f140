#!/bin/sh
# docs/formats holds a JSON Schema for everything that is written or read as JSON: what commands print with --json, what
# they leave in files, what people write. Here all of it is made and held against these.
# ctest: Og large
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
"${PYTHON:-python3}" "$SOURCE/tests/train/fixture.py" . || exit 77
mkdir made

made() { # made FORMAT COMMAND...: what it prints is of that format
    checked=$((checked + 1))
    to=made/$1.$checked.json
    shift
    "$TESSERA" "$@" --json >"$to" 2>err </dev/null || [ -s "$to" ] || wrong "tessera $*: $(head -c 300 err)"
}
kept() { # kept FORMAT FILE
    checked=$((checked + 1))
    cp "$2" "made/$1.$checked.json" || wrong "no $2"
}

cat >hostile.json <<'TEXT'
{ "format": "graph/1", "name": "a\"b</script>&amp;", "opset": { "": 17 },
  "inputs":  [ { "name": "x\"\u2028</script>", "dtype": "f32", "shape": ["rows", 24] } ],
  "outputs": [ { "name": "y" } ],
  "dims": { "rows": { "min": 1, "max": 64, "default": 16 } },
  "constants": { "two": { "dtype": "f32", "shape": [1], "data": [2] } },
  "nodes": [ { "name": "mul</script>", "op": "Mul", "in": ["x\"\u2028</script>", "two"], "out": ["h"] },
             { "name": "soft", "op": "Softmax", "in": ["h"], "out": ["y"], "attr": { "axis": -1 } } ] }
TEXT
cat >mine.json <<'TEXT'
{ "format": "tiling/1", "name": "mine", "//": "a comment", "extends": "panels", "target": "c",
  "override": { "/rules/0/loops": ["m n k"] },
  "rules": [ { "name": "few", "match": { "op": "matmul", "dims": { "m": "<8", "n": 2 }, "dtype": "f32" }, "loops": "guess",
               "fuse": "auto", "optional": true } ] }
TEXT
small="--dim seq=8 --threads 1"
quick="--min-time 40ms --launches 2 --threads 1"

made version version
made config config --threads 2
made doctor doctor
made help help
made help-verb help bench
made help-exit help exit
made help-axes help axes
made help-passes help passes
made help-exit help codes
made code help 3
made code help M014
made tune tune bert-tiny --dim seq=8 --threads 1 --budget 3s --op matmul -o tuned.json
made tune-ranks tune resnet-18 --isa avx2 --predict "$SOURCE/tests/bench/ranks/resnet-18,avx2.log"
made ops ops
made ops-gradients ops --grad
made ops-onnx ops --onnx
"$TESSERA" export gpt2-tiny -o tiny.onnx -q
made quantize quantize tiny.onnx -o fewer.onnx --weights int8
"${PYTHON:-python3}" - <<'PY' || exit 77
import numpy, os
os.mkdir("sample")
for name in "input_ids", "attention_mask":
    numpy.save(f"sample/{name}.npy", numpy.ones((1, 16), numpy.int64))
PY
made quantize quantize tiny.onnx -o static.onnx --int8 --calibrate sample
made schemas schema list
made completion completion bash
# shellcheck disable=SC2086
{
made tiling schema init bert-tiny $small
made tiling schema show panels
made extents bench bert-tiny --dim seq=1..8 --at seq=5 --threads 1 --min-time 10ms
made schema-diff schema diff panels mine.json
made decoding bench gpt2-tiny --decode 4 --length 4 --threads 1 --min-time 20ms
made concurrent bench bert-tiny $small --concurrent 2 --min-time 50ms
made lint schema lint mine.json bert-tiny $small
made model show bert-tiny
made model show hostile.json --dim rows=3
made hash show bert-tiny --hash $small
made text show hostile.json --stage folded
made plan explain bert-tiny -s mine.json $small
made plan explain hostile.json
made ledger explain bert-tiny --ledger $small
made plan explain bert-tiny --target null --machine gpu:h100
made run run bert-tiny --seed 1 --out out $small
made run run hostile.json --seed 1
made run run bert-tiny --seed 2 --against out --tolerance 0 $small
"$TESSERA" run bert-tiny --seed 1 --trace traced.json -q $small >/dev/null
kept trace traced.json
"$TESSERA" run bert-tiny --seed 1 --trace-values here.json -q $small >/dev/null
"$TESSERA" run bert-tiny --seed 2 --trace-values there.json -q $small >/dev/null
kept values here.json
made trace-diff trace-diff here.json there.json
made emit emit bert-tiny -o emitted $small
made results bench hostile.json -s guess -s naive -s mine.json $quick
made sweep bench bert-tiny --sweep seq=4,8 --sweep batch=1 $quick
made results bench bert-tiny -s panels -s rows $small $quick
made suite suite --quick --only gru --threads 1
"$TESSERA" bench hostile.json -s guess $quick -o one.json -q
"$TESSERA" bench hostile.json -s guess $quick -o two.json -q
kept results one.json
made comparison compare one.json two.json
made check-grad check-grad hostile.json
printf '1 2 2\n0.5\n-0.5\n1\n2\n0.1\n-0.2\n1.5\n0.5\n1.5 2\n' >gmm.txt
made adbench adbench gmm gmm.txt --min-time 1ms
made objectives adbench
made import import hostile.json -o imported
made export export imported -o again.onnx
kept graph imported/graph.json
kept graph hostile.json
kept tiling mine.json
for file in "$SOURCE"/backends/*/schemas/*.json; do
    kept tiling "$file"
done
"$TESSERA" run hostile.json --seed 1 --cache-dir kept -q >/dev/null
for what in size ls verify prune clear path; do
    made cache cache $what --cache-dir kept
done
made train train model.json --tokenizer vocab.txt --data train.tsv --labels 2 --length 12 --batch 8 --epochs 1 --eval dev.tsv \
    --threads 1 -o run
echo '{ "format": "tiling/1", "rules": [ { "name": "lean", "match": { "op": "tanh" }, "recompute": true },
  { "reuse": "none" } ] }' >lean.json
kept tiling lean.json
made plan explain run -s lean.json --threads 1
made train train model.json --tokenizer vocab.txt --data train.tsv --labels 2 --length 12 --steps 1 -s lean.json --threads 1 -o lean
made train train model.json --tokenizer vocab.txt --data train.tsv --labels 2 --length 12 --batch 8 --shards 4 --steps 2 \
    --threads 1 -o cut
made ranks explain cut --ranks 8 --net 'latency:2us bandwidth:12GB/s'
made eval eval run --data dev.tsv
made predict predict run --text 'the film was superb' --text 'awful' --probabilities
awk -F '\t' '{ print $1 "\t" ($2 ? "good" : "bad") }' train.tsv >named.tsv
made train train model.json --tokenizer vocab.txt --data named.tsv --length 12 --batch 8 --epochs 1 --eval named.tsv \
    --threads 1 -o named
made predict predict named --text 'the film was superb' --probabilities
kept misjudged named/misjudged.json
}
mkdir words && cd words && "${PYTHON:-python3}" "$SOURCE/tests/train/bigram.py" && cd .. || exit 77
made train train words/model.json --task lm --data words/text.txt --tokenizer bytes --length 8 --batch 8 --steps 20 --lr 0.05 \
    --threads 1 -o lm
made generate generate lm --prompt ab --max-tokens 5
made eval eval lm --data words/text.txt
made train train model.json --data train.tsv --tokenizer vocab.txt --labels 2 --length 12 --batch 8 --epochs 1 --dry-run -o none
awk -F '\t' '{ print $1 "\t" NR / 10 }' train.tsv >numbers.tsv
made train train model.json --data numbers.tsv --task regress --tokenizer vocab.txt --length 12 --batch 8 --steps 3 --threads 1 \
    --eval numbers.tsv -o numbers
made predict predict numbers --text 'the film was superb'
kept misjudged run/misjudged.json
kept step run/step.json
# conformance cases: one that passes, one whose output is another
"${PYTHON:-python3}" - <<'PY'
import os, struct
def field(number, b): return bytes([number << 3 | 2, len(b)]) + b
def tensor(name, *values): # of f32
    return b"\x08" + bytes([len(values)]) + b"\x10\x01" + field(8, name.encode()) + field(9, struct.pack(f"<{len(values)}f", *values))
def port(number, name): # f32 [2]
    return field(number, field(1, name) + field(2, field(1, b"\x08\x01" + field(2, field(1, b"\x08\x02")))))
node = field(1, b"x") + field(2, b"y") + field(4, b"Neg")
model = b"\x08\x08" + field(7, field(1, node) + field(2, b"g") + port(11, b"x") + port(12, b"y")) + field(8, b"\x10\x11")
for case, y in ("test_neg", -1.0), ("test_wrong", 7.0):
    os.makedirs(f"cases/{case}/test_data_set_0")
    open(f"cases/{case}/model.onnx", "wb").write(model)
    open(f"cases/{case}/test_data_set_0/input_0.pb", "wb").write(tensor("x", 1.0, -2.0))
    open(f"cases/{case}/test_data_set_0/output_0.pb", "wb").write(tensor("y", y, 2.0))
PY
"$TESSERA" onnx-test cases --target interp --json onnx-test.json -q >/dev/null
kept onnx-test onnx-test.json
grep -q '"passed":.1' onnx-test.json && grep -q '"failed":.1' onnx-test.json || wrong "cases: one passes, one fails" "$(cat onnx-test.json)"
for run in run lm numbers; do
    kept train-run $run/run.json
    for state in $run/checkpoints/*/state.json; do
        kept checkpoint "$state"
    done
    while read -r line; do
        printf '%s\n' "$line" >line.json
        kept train-metrics line.json
    done <$run/metrics.jsonl
done
for line in 'run nothing.onnx' 'bench bert-tiny --threads 0' 'show hostile.json --dim rows=0' 'frobnicate'; do
    # shellcheck disable=SC2086
    made error $line
done
"${PYTHON:-python3}" "$SOURCE/tests/docs/formats.py" "$SOURCE/docs/formats" made || wrong "not as docs/formats says"
finish
