#!/bin/sh
# Verbs that work, on a model of two layers: what they print, what they write, what --json says.
# ctest: drivers Og
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
python3 -c 'import numpy' 2>/dev/null || { echo "skipped: python3 has no numpy"; exit 77; }
small="--dim seq=8 --threads 2"

# json NAME EXPRESSION ARGUMENT...: the command ends well, prints one JSON object d, and EXPRESSION holds of it
json() {
    name=$1 expression=$2
    shift 2
    checked=$((checked + 1))
    "$TESSERA" "$@" --json >"$name.json" 2>err || wrong "tessera $* --json: exit code $?" "$(head -c 300 err)"
    python3 - "$name.json" "$expression" <<'PY' || wrong "tessera $* --json: not so: $expression" "$(head -c 300 "$name.json")"
import json, math, sys
d = json.load(open(sys.argv[1]))
sys.exit(not eval("(" + sys.argv[2] + ")"))
PY
}

# shellcheck disable=SC2086
{
expect 0 'last_hidden_state  f32    [1, 8, 128]' run bert-tiny --seed 1 $small
json run 'd["format"] == "run/1" and d["outputs"][0]["name"] == "last_hidden_state" and d["outputs"][0]["shape"] == [1, 8, 128]
    and d["outputs"][0]["not_finite"] == 0' run bert-tiny --seed 1 --out deep/out $small
"$TESSERA" run bert-tiny --seed 1 --out again $small -q >text 2>err || wrong "run --out fails"
[ -s err ] && wrong "run -q writes to standard error" "$(cat err)"
for f in last_hidden_state pooler_output; do
    cmp -s "deep/out/$f.npy" "again/$f.npy" || wrong "two runs from one seed differ in $f, or wrote nothing"
done
python3 - <<'PY' || wrong "what was printed is not what was written"
import json, numpy as np
d = json.load(open("run.json"))
for o in d["outputs"]:
    a = np.load("deep/out/" + o["file"]).astype(np.float64)
    assert list(a.shape) == o["shape"] and str(a.dtype) == "float64"
    assert abs(a.min() - o["min"]) < 1e-6 and abs(a.max() - o["max"]) < 1e-6 and abs(a.mean() - o["mean"]) < 1e-6
PY

# values inside the model: by label, by number and operation, or all; the outputs are what they were, up to rounding
json inside '[o["name"] for o in d["outputs"]][:2] == ["last_hidden_state", "pooler_output"] and len(d["outputs"]) > 2
    and all(o["name"].endswith((".softmax", ".gather")) for o in d["outputs"][2:])' \
    run bert-tiny --seed 1 --nodes '*.softmax' --nodes '*.gather' --out inside $small
json all 'len(d["outputs"]) > 100 and len({o["name"] for o in d["outputs"]}) == len(d["outputs"])' \
    run bert-tiny --seed 1 --all --target interp --out all $small
python3 - <<'PY' || wrong "values inside differ between targets"
import json, numpy as np
inside, every = (json.load(open(f + ".json"))["outputs"] for f in ("inside", "all"))
named = {o["name"]: o["file"] for o in every}
for o in inside:
    a, b = np.load("inside/" + o["file"]), np.load("all/" + named[o["name"]])
    assert np.abs(a - b).max() <= 1e-5 * np.abs(b).max(), o["name"]
PY
expect 2 'no value inside the model is called "nothing*", or it is an output already' \
    run bert-tiny --seed 1 --nodes 'nothing*' $small

# a cache that cannot be written is said, and gone without
expect 0 'note: ' run bert-tiny --seed 1 $small --cache-dir /proc/none
expect 0 pooler_output run bert-tiny --seed 1 $small --cache-dir /proc/none
# so is a rule that decides nothing
echo '{ "format": "tiling/1", "rules": [ { "name": "typo", "match": { "name": "*qery*" }, "loops": "guess" } ] }' >typo.json
expect 0 'note: typo.json:1:36 (/rules/0): rule "typo" decides no kernel: ' run bert-tiny --seed 1 $small -s typo.json

# values given and values from a seed are the same thing
python3 -c 'import numpy as np; np.save("ids.npy", np.arange(8).reshape(1, 8)); np.save("one.npy", np.ones((1, 8), np.int64))'
ones="--in attention_mask=one.npy --in token_type_ids=one.npy"
expect 0 pooler_output run bert-tiny --in input_ids=ids.npy $ones --out c
expect 0 pooler_output run bert-tiny --in input_ids=ids.npy $ones --out interp --target interp
python3 - <<'PY' || wrong "c and interp differ"
import numpy as np
a, b = np.load("c/last_hidden_state.npy"), np.load("interp/last_hidden_state.npy")
assert np.abs(a - b).max() <= 1e-5 * np.abs(b).max()
PY

json show 'd["format"] == "model/1" and d["bound"] and len(d["nodes"]) > 50' show bert-tiny $small
json hash 'len(d["hash"]) == 64' show bert-tiny --hash $small
[ "$("$TESSERA" show bert-tiny --hash $small)" = "$("$TESSERA" show bert-tiny --hash $small)" ] || wrong "hashes of two processes differ"
expect 0 '  0-1                    2 x' show bert-tiny $small
expect 0 'return' show bert-tiny --stage folded $small
expect 2 'there is no file with steps' show bert-tiny --stage imported $small
json plan 'd["format"] == "plan/1" and d["threads"] == 2 and len(d["kernels"]) > 10' explain bert-tiny $small
json few '{k["op"] for k in d["kernels"]} == {"matmul"}' explain bert-tiny --op matmul $small
cat >names.json <<'JSON'
{ "format": "graph/1", "name": "names", "opset": { "": 17 }, "inputs": [{ "name": "x", "dtype": "f32", "shape": [2] }],
  "outputs": [{ "name": "../x" }, { "name": "a/b" }, { "name": "a_b" }, { "name": "plain" }],
  "nodes": [{ "name": "p", "op": "Neg", "in": ["x"], "out": ["../x"] }, { "name": "q", "op": "Abs", "in": ["x"], "out": ["a/b"] },
    { "name": "r", "op": "Exp", "in": ["x"], "out": ["a_b"] }, { "name": "s", "op": "Relu", "in": ["x"], "out": ["plain"] }] }
JSON
# another name than the model's is said, above all one that a listing would not show
for said in 'output "../x" is written to named/.._x.npy, which ls shows with -a' \
    'output "a/b" is written to named/a_b.npy' 'output "a_b" is written to named/a_b-2.npy'; do
    expect 0 "$said" run names.json --random --out named --target interp
done
grep -q '"plain" is written' err && wrong "a name that stays is announced"
expect 0 'alike' explain bert-tiny --op '*query*' $small
expect 0 'declined: Strassen: operations, what weights and values gone through take among them: ' explain bert-tiny --why --op '*query*' $small
"$TESSERA" explain bert-tiny $small | grep -q declined && wrong "explain tells what was declined where it is not asked to" ""
expect 2 'no kernel of this plan' explain bert-tiny --op nothing $small
expect 2 'tessera explain without --op shows all' explain bert-tiny --op nothing $small

# as it is written: a product is no sum of blocks, and a row that is not a number stays in its row
product="products --dim layers=1 --threads 2 --as-written"
json written '{k["op"] for k in d["kernels"]} == {"matmul"}' explain $product
python3 -c 'import numpy as np; x = np.ones((128, 768), np.float32); x[64] = np.nan; np.save("nan.npy", x)'
expect 0 'y     f32    [128, 768]' run $product --in x=nan.npy --out rows
python3 -c 'import numpy as np, sys; y = np.isnan(np.load("rows/y.npy")); sys.exit(int(not y[64].all() or y.sum() != 768))' ||
    wrong "--as-written: not a number in other rows, too"

# the guess as a file gives the same loops
expect 0 '"format": "tiling/1"' schema init bert-tiny $small
expect 0 'wrote guess.json' schema init bert-tiny -o guess.json $small
json lint 'd["format"] == "lint/1" and d["reached"] == d["kernels"]' schema lint guess.json bert-tiny $small
json check 'd["format"] == "lint/1" and sum(t["kernels"] for t in d["tiles"]) == d["reached"] > 0' \
    check bert-tiny -s guess.json $small
json same '[k.get("derived", k["loops"]) for k in d["kernels"]] == [
    k.get("derived", k["loops"]) for k in json.load(open("plan.json"))["kernels"]]' \
    explain bert-tiny -s guess.json $small
json schemas 'all(isinstance(v, list) for v in d.values())' schema list
for name in naive panels rows; do
    "$TESSERA" schema show $name | cmp - "$SOURCE/backends/c/schemas/$name.json" || wrong "schema show $name prints something else"
done
expect 0 'wrote panels.json' schema show panels -o panels.json
expect 0 'kernels follow its rules, 0 warnings' schema lint panels.json bert-base --dim seq=128 --threads 1
expect 0 'tiles: 24 in L2, 12 in L3; memory: ' check minilm -s rows --dim seq=64 --threads 2 --machine \
    'l3:1(32MB) l2:2(1MB) l1d:2(32KB) core:2 isa:avx512'
# a rule that fits no product of those that became other kernels
cat >none.json <<'END'
{"format":"tiling/1","rules":[{"name":"sevens","match":{"op":"matmul","dims":{"m":7}},"loops":"m n k"}]}
END
expect 0 'decides no kernel: the plan has none of its operations: matmul goes by Strassen; it has' \
    check minilm -s none.json --dim seq=512 --threads 2 --machine 'l3:1(32MB) l2:2(1MB) l1d:2(32KB) core:2 isa:avx512'
# what is refused is said wherever it matters, and does not count as followed
cat >refused.json <<'END'
{"format":"tiling/1","rules":[{"name":"mine","match":{"op":"matmul"},"loops":["m n q","guess"]}]}
END
why='rule "mine" is refused for 12 kernels (k1 matmul encoder.layer.0.attention.self.query.weight, ...), and the guess is'
counts='0 of 21 kernels follow its rules, 13 fit a rule whose loops are refused and follow the guess'
expect 0 "$counts" schema lint refused.json bert-tiny $small
json lint 'd["reached"] == 0 and d["guessed"] == 13 and len(d["notes"]) == 2' schema lint refused.json bert-tiny $small
expect 0 "$why" explain bert-tiny -s refused.json $small
# one that only takes kernels apart is followed by those that it made, whatever walks them
cat >apart.json <<'END'
{"format":"tiling/1","rules":[{"name":"bare","match":{"op":"layer_norm"},"fuse":"none"}]}
END
json apart-lint '0 < d["reached"] < d["kernels"] and not d["guessed"]' schema lint apart.json bert-tiny $small
json pieces '{k["apart"] for k in d["kernels"] if "apart" in k} == {"bare"}' explain -s apart.json bert-tiny $small
expect 0 '(rule mine is refused: guess)' explain bert-tiny -s refused.json $small
expect 0 "$why" run bert-tiny -s refused.json --random $small
expect 0 "$why" bench bert-tiny -s refused.json --min-time 20ms --launches 1 $small
expect 0 "$why" bench bert-tiny -s refused.json --dim seq=1..16 --at seq=8 --min-time 20ms
expect 0 "$why" emit bert-tiny -s refused.json -o sources $small
# the convolutions of docs/schema.md: one rule for one image and for several, and the axes that its table has
awk '/^```json/ { s = ""; on = 1; next } /^```/ { if (on && s ~ /"windows"/) printf "%s", s; on = 0 } on { s = s $0 "\n" }' \
    "$SOURCE/docs/schema.md" >convolutions.json
for batch in 1 2; do
    json windows 'd["reached"] >= 5' schema lint convolutions.json resnet-18 --dim batch=$batch
    json walked 'all(k["rule"] == "windows" for k in d["kernels"] if k["op"] == "conv2d" and k["dims"]["kh"] > 1)' \
        explain resnet-18 --dim batch=$batch -s convolutions.json
done
json pixels '[sorted(k["dims"]) for k in d["kernels"] if k["op"] == "conv2d" and k["dims"]["kh"] == 1][0] == ["ic", "kh", "kw", "oc", "ow"]' \
    explain resnet-50 --dim batch=1
# the layers within a kernel: by the stage's operand as explain prints it, and by the name of a layer's weight
for rule in '"match":{"op":"conv2d"},"layout":{"conv2d2.b":"kw kh oc ic"}' \
    '"match":{"name":"layer1.0.conv2.weight"},"layout":{"b":"kw kh oc ic"}'; do
    echo '{"format":"tiling/1","rules":[{'"$rule"'}]}' >inner.json
    json layers '[o["tensor"] for k in d["kernels"] for o in k["operands"] if o["layout"] == "kw kh oc ic"] == ["layer1.0.conv2.weight"]' \
        explain resnet-tiny --dim batch=2 -s inner.json
done
expect 3 'no schema "panel" is built in for target c' schema show panel
expect 3 'did you mean panels?' schema show panel
expect 3 'the schema "guess" is no file' schema show guess
expect 3 'tessera schema init MODEL prints' schema show guess

json doctor 'd["ceilings"]["fma_f32_gflops"] > 1 and d["machine"]["cores"] >= 1 and "noise" in d' doctor
expect 0 'GFLOP/s' doctor
# without a compiler there is still the interpreter, and doctor says what is missing
without() { env -i ASAN_OPTIONS="${ASAN_OPTIONS-}" PATH=/nonexistent "$TESSERA" "$@" >out 2>err; }
checked=$((checked + 3))
without run bert-tiny --seed 1 $small --cache-dir none
[ $? = 5 ] || wrong "run without a compiler: not exit code 5" "$(cat err)"
grep -q 'no C compiler found' err || wrong "run without a compiler does not say so" "$(cat err)"
without run bert-tiny --seed 1 $small --target interp || wrong "interp needs a compiler" "$(cat err)"
without doctor && grep -q 'c  *no .*no C compiler found' out || wrong "doctor without a compiler" "$(head -c 900 out err)"
json ops '"matmul" in [o["name"] for o in d["ops"]]' ops
expect 0 'MatMul' ops --onnx
json axes 'd["matmul"] == "b m n | k" and d["contract"] == "g m n | k"' help axes
json passes '[p["name"] for p in d][2:7] == ["known", "extents", "common", "dots", "alternatives"]' help passes
expect 0 'g=16 m=784 n=64 k=64' explain resnet-18 --dim batch=1 --op contract --machine 'core:2 isa:avx512'
expect 0 '    a...p            f32[1,64,56,56]' explain resnet-18 --dim batch=1 --op winograd_tiles --machine 'core:2 isa:avx512' # one row for 16 places
expect 0 'k1 matmul encoder.layer.0.attention.self.query.weight m=8 n=128 k=128' show bert-tiny --dim seq=8 --stage planned
expect 0 '    b: encoder.layer.0.attention.self.query.weight f32[128,128] over n/' show bert-tiny --dim seq=8 --stage planned
json planned 'd["format"] == "plan/1"' show bert-tiny --dim seq=8 --stage planned

unset TESSERA_CC # what is timed is fast
# measuring: files, verdict (a busy machine may leave it open, or spoil the times of all), exit codes
quick="--min-time 0.1s --launches 1"
json bench 'd["format"] == "results/1" and [c["status"] for c in d["candidates"]] == ["VALID"] * 2
    and d["comparisons"][0]["verdict"] in ("SLOWER", "UNDECIDED")' bench bert-tiny -s naive -s guess $small $quick -o results.json --report report.html
json asked 'd["config"]["as_written"] and d["candidates"][0]["kernels"][0]["op"] == "matmul"' bench $product $quick
python3 -m json.tool results.json >/dev/null || wrong "results.json is no JSON"
grep -q '<svg' report.html || wrong "report.html has no charts"
expect 0 '| `naive` |' report results.json --markdown
expect 0 '"naive",candidate' report results.json --csv
"$TESSERA" bench bert-tiny -s naive -s guess $small $quick --fail-on slower --fail-on undecided --fail-on invalid -q >out 2>err
[ $? = 1 ] || wrong "bench --fail-on: not exit code 1" "$(head -c 300 err)"
expect 0 'guess' compare results.json results.json
json compared 'd["format"] == "comparison/1"' compare results.json results.json
}
finish
