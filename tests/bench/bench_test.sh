#!/bin/sh
# bench_test.sh - the whole way: a model, two schemas, one verdict; results that parse; comparing files; mistakes; a signal.
# Times are only asked for what nobody can miss: a tiled product against textbook loops.  ctest: serial
. "$SOURCE/tests/cli/expect.sh"
export TMPDIR="$dir"
cat >"$dir/product.json" <<'TEXT'
{ "format": "graph/1", "name": "product", "opset": { "": 17 },
  "inputs":  [ { "name": "x", "dtype": "f32", "shape": [256, 512] }, { "name": "w", "dtype": "f32", "shape": [512, 512] } ],
  "outputs": [ { "name": "y" } ],
  "nodes": [ { "name": "mm", "op": "MatMul", "in": ["x", "w"], "out": ["h"] },
             { "name": "act", "op": "Relu", "in": ["h"], "out": ["y"] } ] }
TEXT
quick="--min-time 60ms --launches 3 --threads 1"
# shellcheck disable=SC2086
"$TESSERA" bench "$dir/product.json" -s guess -s naive $quick --json >"$dir/r.json" 2>"$dir/err"
[ $? = 0 ] || wrong "bench: $(cat "$dir/err")"
python3 - "$dir/r.json" <<'PY'
import json, sys
r = json.load(open(sys.argv[1]))
assert r["format"] == "results/1"
assert r["environment"]["threads"] == 1 and r["environment"]["isa"] and r["environment"]["cpu"]
assert r["ceilings"]["fma_f32_gflops"] > 0 and r["ceilings"]["read_gbs"] > 0
a, b = r["candidates"]
for c in a, b:
    assert c["status"] == r["status"], c["reason"]
    s = c["stats"]
    assert (s is None) == (r["status"] == "INVALID")
    assert sum(len(launch) for launch in c["samples"]) == r["machine_state"]["rounds"] and len(c["samples"]) == 3
    if s:
        assert c["reason"] is None and s["n"] == r["machine_state"]["counted_rounds"]
        assert 0 < s["min_ns"] <= s["median_ns"] <= s["p90_ns"], s
    assert c["memory"]["peak_bytes"] > 1e6
    assert 0 <= c["numerics"]["max_rel"] <= 1e-4 == c["numerics"]["tolerance"]
    assert c["kernels"] and sum(k["flops"] for k in c["kernels"]) >= 2 * 256 * 512 * 512
    for k in c["kernels"]:
        assert set(k) >= {"name", "op", "rule", "calls", "median_ns", "flops", "bytes", "peak_share"}
        assert k["median_ns"] > 0 and 0 < k["peak_share"] < 1.2, k
if r["status"] == "INVALID":
    assert r["machine_state"]["state"] == "unusable" and r["reason"], r
    print("the machine is too busy for a verdict:", r["reason"])
    sys.exit(77)
(c,) = r["comparisons"]
assert (c["a"], c["b"], c["verdict"]) == ("guess", "naive", "FASTER"), c
assert c["ratio"] > 1.5 and c["low"] <= c["ratio"] <= c["high"]
assert abs(c["ratio"] * a["stats"]["median_ns"] / b["stats"]["median_ns"] - 1) < 0.3  # time of b / time of a
PY
case $? in
0) decided=yes ;;
77) decided= ;;
*) wrong "results: $(head -c 2000 "$dir/r.json")" ;;
esac

# a step of training: right by the f64 reference, its kernels timed; what is no option of one
"$TESSERA" bench bert-tiny --train --batch 2 --length 8 --min-time 60ms --launches 1 --threads 1 --json \
    >"$dir/step.json" 2>"$dir/err" || wrong "bench --train: $(cat "$dir/err")"
python3 - "$dir/step.json" <<'PY' || wrong "results of a step: $(head -c 2000 "$dir/step.json")"
import json, sys
r = json.load(open(sys.argv[1]))
assert r["model"]["dims"] == ["train=classify", "batch=2", "length=8"]
assert [o["name"] for o in r["model"]["outputs"]] == ["loss", "grad_norm"]
(c,) = r["candidates"]
assert c["status"] == r["status"] and 0 < c["numerics"]["max_rel"] <= 1e-4
assert r["status"] == "INVALID" or c["stats"]["median_ns"] > 0
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
assert c["status"] == r["status"] and 0 < c["numerics"]["max_rel"] <= 1e-4, c
assert r["status"] == "INVALID" or c["stats"]["median_ns"] > 0, c
PY
expect 2 '--task pairs is for texts, and the model takes none' bench "$dir/images.json" --train --task pairs --dim size=5
expect 2 '--task lm is for texts, and the model takes none' bench "$dir/images.json" --train --task lm --dim size=5
expect 2 'dimension "size" of input "x" has no extent' bench "$dir/images.json" --train --batch 3
expect 2 'add --train, or leave it out' bench bert-tiny --batch 2
expect 2 '--in gives inputs of a pass' bench bert-tiny --train --in x=y.npy
expect 2 'there is no optimizer "adma"' bench bert-tiny --train --optimizer adma

# the same file twice; the slower one after the faster one
python3 - "$dir" <<'PY'
import json, sys
r = json.load(open(sys.argv[1] + "/r.json"))
fast, slow = r["candidates"]
for name, candidate in (("fast", fast), ("slow", dict(slow, name=fast["name"]))):
    json.dump(dict(r, candidates=[candidate]), open(f"{sys.argv[1]}/{name}.json", "w"))
PY
slower=SLOWER faster=FASTER exit_code=1
[ "$decided" ] || slower=UNDECIDED faster=UNDECIDED exit_code=0
expect 0 "$slower" compare "$dir/fast.json" "$dir/slow.json"
expect 0 "$faster" compare "$dir/slow.json" "$dir/fast.json"
"$TESSERA" compare "$dir/fast.json" "$dir/slow.json" --fail-on slower >/dev/null 2>&1
[ $? = $exit_code ] || wrong "compare --fail-on slower: not exit code $exit_code"
"$TESSERA" compare "$dir/slow.json" "$dir/fast.json" --fail-on slower >/dev/null 2>&1
[ $? = 0 ] || wrong "compare --fail-on slower: fails although it is faster"

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
expect 2 'peer onnxruntime needs an ONNX file, and product.json is not one' bench product.json --peer onnxruntime
expect 2 'unknown peer "nobody"' bench "$dir/product.json" --peer nobody
expect 2 'no input "z"' bench "$dir/product.json" --in "z=$dir/z.npy"
expect 2 '1000 threads: this process may use' bench "$dir/product.json" --threads 1000
expect 2 'hint: leave --threads out for one per core' bench "$dir/product.json" --threads 1000
expect 2 'avx1024' bench "$dir/product.json" --isa avx1024
echo '{ "format": "tiling/1", "rules": [ { "match": { "op": "matmul" }, "loops": ["m n q"] } ] }' >"$dir/bad.json"
expect 3 'bad.json' bench "$dir/product.json" -s guess -s "$dir/bad.json"

# a signal that is ignored, as by nohup, stops nothing
checked=$((checked + 1))
(trap '' HUP && exec "$TESSERA" bench "$dir/product.json" --min-time 2s --launches 2 -q >/dev/null 2>"$dir/err") &
pid=$!
sleep 1
kill -HUP $pid
wait $pid || wrong "bench under nohup: exit code $?" "$(cat "$dir/err")"

# a signal in the middle: its exit code, and no process or file left behind
checked=$((checked + 1))
"$TESSERA" bench "$dir/product.json" --min-time 30s >/dev/null 2>&1 &
pid=$!
sleep 4
kill -TERM $pid
wait $pid
[ $? = 143 ] || wrong "SIGTERM while measuring: not exit code 143"
ls -d "$dir"/tessera-bench-* 2>/dev/null && wrong "SIGTERM while measuring: its folder is left"

# a signal while samples are taken: they are kept, and the same command goes on from there
checked=$((checked + 1))
long="--min-time 24s --launches 4 --threads 1 -o $dir/cut.json"
# shellcheck disable=SC2086
"$TESSERA" bench "$dir/product.json" $long >/dev/null 2>"$dir/err" &
pid=$!
for turn in $(seq 200); do # progress is a line every ten seconds where it goes to a file
    grep -q 'timing [1-9]' "$dir/err" && break
    sleep 0.5
done
kill -TERM $pid
wait $pid
[ $? = 143 ] || wrong "SIGTERM while sampling: not exit code 143, after $turn turns" "$(tail -n 1 "$dir/err")"
grep -q "To go on: the same command with --resume $dir/cut.json" "$dir/err" || wrong "how to go on is not said" "$(tail -n 1 "$dir/err")"
# shellcheck disable=SC2086
expect 2 'seed was 0 and is 5' bench "$dir/product.json" $long --resume "$dir/cut.json" --seed 5
# shellcheck disable=SC2086
expect 0 'machine: ' bench "$dir/product.json" $long --resume "$dir/cut.json"
python3 - "$dir/cut.json" <<'PY' || wrong "resumed results are not whole"
import json, sys
r = json.load(open(sys.argv[1]))
assert "partial" not in r and len(r["candidates"][0]["samples"]) == 4
PY
finish
