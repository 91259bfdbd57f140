#!/bin/sh
# options_test.sh - what bench is told and says: steps of training, notes before the verdict, names of schemas, mistakes.
# ctest: O1
. "$SOURCE/tests/cli/expect.sh"
. "$SOURCE/tests/bench/product.sh"
# a step of training: right by the f64 reference, its kernels timed; what is no option of one
"$TESSERA" bench bert-tiny --train --batch 2 --length 8 --min-time 60ms --launches 1 --threads 1 --json \
    >"$dir/step.json" 2>"$dir/err" || wrong "bench --train: $(cat "$dir/err")"
python3 - "$dir/step.json" <<'PY' || wrong "results of a step: $(head -c 2000 "$dir/step.json")"
import json, sys
r = json.load(open(sys.argv[1]))
assert r["model"]["dims"] == ["train=classify", "batch=2", "length=8"]
assert [(o["name"], o["shape"]) for o in r["model"]["outputs"]] == [("loss", [4]), ("grad_norm", [4])] # of four steps
(c,) = r["candidates"]
assert c["status"] == "VALID" and 0 < c["numerics"]["max_rel"] <= 1e-4
assert c["stats"]["median_ns"] > 0
assert len(c["kernels"]) > 30 and all(k["median_ns"] > 0 for k in c["kernels"])
PY
# images: arrays are drawn, the free first extent is the batch, and no option of another name says it
cat >"$dir/images.json" <<'JSON'
{ "format": "graph/1", "name": "images", "opset": { "": 17 }, "outputs": [ { "name": "y" } ],
  "inputs": [ { "name": "x", "dtype": "f32", "shape": ["size_of_batch", 2, "size", 6] } ],
  "constants": { "w": { "dtype": "f32", "shape": [2, 2, 1, 1], "data": [0.5, -1, 2, 0.25] } },
  "nodes": [ { "op": "Conv", "in": ["x", "w"], "out": ["c"] }, { "op": "GlobalMaxPool", "in": ["c"], "out": ["p"] },
             { "op": "Flatten", "in": ["p"], "out": ["y"] } ] }
JSON
"$TESSERA" bench "$dir/images.json" --train --batch 3 --dim size=5 --min-time 60ms --launches 1 --threads 1 --json \
    >"$dir/step.json" 2>"$dir/err" || wrong "bench --train of images: $(cat "$dir/err")"
python3 - "$dir/step.json" <<'PY' || wrong "results of a step on images: $(head -c 2000 "$dir/step.json")"
import json, sys
r = json.load(open(sys.argv[1]))
assert r["model"]["dims"] == ["size=5", "train=classify", "batch=3"], r["model"]  # no length
(c,) = r["candidates"]
assert c["status"] == "VALID" and 0 < c["numerics"]["max_rel"] <= 1e-4, c
assert c["stats"]["median_ns"] > 0, c
PY
expect 2 '--task pairs is for texts, and the model takes none' bench "$dir/images.json" --train --task pairs --dim size=5
expect 2 '--task lm is for texts, and the model takes none' bench "$dir/images.json" --train --task lm --dim size=5
expect 2 'dimension "size" of input "x" has no extent' bench "$dir/images.json" --train --batch 3
expect 2 'add --train, or leave it out' bench bert-tiny --batch 2
expect 2 '--in gives inputs of a pass' bench bert-tiny --train --in x=y.npy
expect 2 'there is no optimizer "adma"' bench bert-tiny --train --optimizer adma

# what a person should know before the verdict, each once: a rule that decides nothing, a cache that cannot be used
echo '{ "format": "tiling/1", "rules": [ { "name": "typo", "match": { "name": "mn" }, "loops": "guess" } ] }' >"$dir/typo.json"
expect 0 'rule "typo" decides no kernel: ' bench "$dir/product.json" -s "$dir/typo.json" -s guess --min-time 20ms --launches 1 \
    --cache-dir /proc/none
[ "$(grep -c "^note: cache folder '/proc/none' cannot be used" "$dir/out")" = 1 ] || wrong "an unusable cache is not said once" "$(cat "$dir/out")"

# a contestant that is late; a peer that cannot run, said before anything is timed
expect 124 'hint: a longer --timeout, or a smaller model' bench "$dir/product.json" --timeout 1ms
: >"$dir/model.onnx"
expect 2 'peer onnxruntime cannot run with /nonexistent/python: ' bench "$dir/model.onnx" --peer onnxruntime \
    --peer-python /nonexistent/python
expect 2 'name another with --peer-python PATH' bench "$dir/model.onnx" --peer onnxruntime --peer-python /nonexistent/python

# what a person types wrong; nothing is measured then
# schemas go by the names that they give themselves, and by those of their files where these are alike
echo '{ "format": "tiling/1", "name": "first", "rules": [] }' >"$dir/one.json"
for name in two three; do
    echo '{ "format": "tiling/1", "name": "alike", "rules": [] }' >"$dir/$name.json"
done
"$TESSERA" bench "$dir/product.json" -s "$dir/one.json" -s "$dir/two.json" -s "$dir/three.json" --min-time 20ms --launches 1 \
    --threads 1 --json >"$dir/names.json" 2>"$dir/err" || wrong "bench of three files: $(cat "$dir/err")"
python3 -c 'import json, sys
names = [c["name"] for c in json.load(open(sys.argv[1]))["candidates"]]
assert names == ["first", "two.json", "three.json"], names' "$dir/names.json" || wrong "names of schemas"
expect 8 'built-in model "nothing.json"' bench nothing.json --peer onnxruntime
expect 2 'unknown peer "nobody"' bench "$dir/product.json" --peer nobody
expect 2 'no input "z"' bench "$dir/product.json" --in "z=$dir/z.npy"
expect 2 '1000 threads, 1 to' bench "$dir/product.json" --threads 1000
expect 2 'hint: leave --threads out for one per core' bench "$dir/product.json" --threads 1000
expect 2 'avx1024' bench "$dir/product.json" --isa avx1024
echo '{ "format": "tiling/1", "rules": [ { "match": { "op": "matmul" }, "loops": ["m n q"] } ] }' >"$dir/bad.json"
expect 3 'bad.json' bench "$dir/product.json" -s guess -s "$dir/bad.json"

finish
