# verbs.sh - sourced behind expect.sh: makes in the current folder what the commands of sweep.py need.
# shellcheck shell=sh
"${PYTHON:-python3}" "$SOURCE/tests/train/fixture.py" . || exit 77
mkdir folder words
: >empty
: >plain
printf 'hi' >junk
cat >m.json <<'TEXT'
{ "format": "graph/1", "name": "m", "opset": { "": 17 }, "dims": { "rows": { "min": 1, "max": 64, "default": 4 } },
  "inputs":  [ { "name": "x", "dtype": "f32", "shape": ["rows", 8] } ], "outputs": [ { "name": "y" } ],
  "nodes": [ { "op": "Softmax", "in": ["x"], "out": ["y"] } ] }
TEXT
echo '{ "format": "tiling/1", "rules": [ { "name": "all", "loops": "guess" } ] }' >s.json
printf '1 2 2\n0.5\n-0.5\n1\n2\n0.1\n-0.2\n1.5\n0.5\n1.5 2\n' >gmm.txt
"${PYTHON:-python3}" -c 'import numpy; numpy.save("x.npy", numpy.zeros((4, 8), numpy.float32))'
"$TESSERA" bench m.json -s guess --min-time 40ms --launches 2 --threads 1 -o results.json -q >/dev/null || wrong "bench fails"
"$TESSERA" train model.json --tokenizer vocab.txt --data train.tsv --length 12 --batch 8 --steps 1 -q -o run || wrong "train fails"
(cd words && "${PYTHON:-python3}" "$SOURCE/tests/train/bigram.py") || exit 77
"$TESSERA" train words/model.json --task lm --data words/text.txt --tokenizer bytes --length 8 --batch 8 --steps 1 -q -o lm ||
    wrong "train --task lm fails"
"$TESSERA" export gpt2-tiny -o m.onnx -q || wrong "export fails"
"$TESSERA" run m.json --seed 1 --threads 1 --trace-values values.json -q >/dev/null || wrong "run --trace-values fails"
mkdir cases
