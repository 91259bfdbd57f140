#!/bin/sh
# What a run is foretold to take is within a tenth of what it takes, with evaluations and without; a step that recomputing would
# make smaller is not called minimal. Under --mem-limit a step recomputes what it must, and no more, to the same bits, and says so.
# ctest: large
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
"${PYTHON:-python3}" - <<'PY' || { echo "skipped: no numpy"; exit 77; }
import json
import numpy as np
W, nodes, x = 512, [], "x"
for i in range(8):
    nodes += [{"name": f"w{i}", "op": "tessera.parameter", "in": [], "out": [f"w{i}"], "attr": {"shape": [W, W], "seed": i + 1, "scale": 0.05}},
              {"op": "MatMul", "in": [x, f"w{i}"], "out": [f"h{i}"]}, {"op": "Tanh", "in": [f"h{i}"], "out": [f"t{i}"]}]
    x = f"t{i}"
nodes += [{"op": "ReduceSum", "in": [x], "out": ["loss"], "attr": {"keepdims": 0}}]
json.dump({"format": "graph/1", "name": "deep", "opset": {"": 17}, "nodes": nodes, "outputs": [{"name": "loss"}],
           "inputs": [{"name": "x", "dtype": "f32", "shape": ["batch", W]}]}, open("deep.json", "w"))
np.save("x.npy", np.random.default_rng(1).standard_normal((2048, W)).astype("f4"))
PY
for eval in '' '--eval x=x.npy'; do
    rm -rf run
    # shellcheck disable=SC2086 # no word or two
    "$TESSERA" train deep.json --data x=x.npy $eval --loss loss --batch 256 --steps 2 --eval-every 1 --lr 1e-5 -o run --json >run.json 2>err ||
        wrong "train fails" "$(cat err)"
    grep -q minimum err && wrong "a step that recomputing makes smaller is called minimal" "$(cat err)"
    grep -q 'the run takes .* MiB: with .* of program, model and data' err || wrong "nothing is foretold" "$(cat err)"
    "${PYTHON:-python3}" - <<'PY' || wrong "another amount of memory is foretold than is taken ($eval)"
import json
foretold = json.load(open("run.json"))["step"]["run_bytes"]
taken = max(r["memory_bytes"] for r in map(json.loads, open("run/metrics.jsonl")) if "loss" in r)
print(foretold / 2**20, "MiB foretold,", taken / 2**20, "taken")
assert 0.9 < foretold / taken < 1.1
PY
done
# what is computed again grows as the limit falls; weights and losses keep their bits
set -- deep.json --data x=x.npy --loss loss --batch 2048 --steps 3 --lr 1e-5
for limit in 1G 59M 54M 50M; do
    rm -rf "at$limit"
    "$TESSERA" train "$@" -o "at$limit" --json --mem-limit $limit >"at$limit.json" 2>err || wrong "no step within $limit" "$(cat err)"
    cmp at1G/checkpoints/step-00000003/weights.safetensors "at$limit/checkpoints/step-00000003/weights.safetensors" ||
        wrong "other weights within $limit"
    for r in at1G "at$limit"; do sed 's/"ms":.*//' "$r/metrics.jsonl" >"$r.rows"; done
    cmp at1G.rows "at$limit.rows" || wrong "other losses within $limit"
done
grep -q 'rule "mem-limit": .* MiB less at once; .* are not kept' err || wrong "what a limit makes of a step is not told" "$(cat err)"
"${PYTHON:-python3}" - <<'PY' || wrong "limits are not kept to, or more than is needed is computed again"
import json
steps = [json.load(open(f"at{n}.json"))["step"] for n in ("1G", "59M", "54M", "50M")]
again = [sum(r["flops"] for r in s["recompute"]) for s in steps]
print([s["bytes"] / 2**20 for s in steps], again)
assert again[0] == 0 < again[1] <= again[2] < again[3] and not steps[0]["recompute"], again
for s, most in zip(steps, (1024, 59, 54, 50)):
    assert s["bytes"] <= most * 2**20, (s["bytes"], most)
PY
expect 7 'all that can be computed again already is: take fewer examples at once' train "$@" -o none --mem-limit 40M
expect 7 'inputs), 1.0 KiB are allowed' run bert-tiny --seed 1 --mem-limit 1K
# over devices each keeps to its own limit: a step computes again, what none may hold is cut, and bits stay
cat >cut.json <<'JSON'
{ "format": "tiling/1", "name": "cut", "rules": [ { "match": { "op": "matmul" }, "place": "c:cores0" } ] }
JSON
"$TESSERA" train "$@" -o over --json --target c:numa0 -s cut.json --mem-limit c:cores0=42M,c:numa0=60M >over.json 2>err ||
    wrong "no step within limits of two devices" "$(cat err)"
cmp at1G/checkpoints/step-00000003/weights.safetensors over/checkpoints/step-00000003/weights.safetensors || wrong "other weights over two devices"
grep -q 'rule "mem-limit": .* are not kept' err || wrong "nothing is computed again within limits of two devices" "$(cat err)"
expect 7 'device c:numa0: the plan needs 32.0 MiB (8.0 MiB of them for values, the rest for weights and inputs), 1.0 MiB are allowed' \
    train "$@" -o none --target c:numa0 -s cut.json --mem-limit c:numa0=1M
for limit in 1G 6M c:cores0=6M,c:numa0=6M c:cores0=7M,c:numa0=5M; do
    "$TESSERA" explain deep.json --dim batch=64 --target c:cores0,c:numa0 --mem-limit $limit --json >"plan-$limit.json" 2>err ||
        wrong "no cut within $limit" "$(cat err)"
done
"${PYTHON:-python3}" - <<'PY' || wrong "a cut over devices takes more of one than is allowed"
import json
for a, b in ((1024, 1024), (6, 6), (7, 5)):
    plan = json.load(open("plan-1G.json" if a == 1024 else f"plan-c:cores0={a}M,c:numa0={b}M.json"))
    taken = [p["arena_bytes"] + p["weights_bytes"] for p in plan.get("places", [])]
    print([t / 2**20 for t in taken], (a, b))
    assert ("cuts it into spans" in "".join(plan.get("notes", []))) == (a < 1024)
    assert a == 1024 or (0 < taken[0] <= a * 2**20 and 0 < taken[1] <= b * 2**20)
each, named = (json.load(open(f"plan-{n}.json")) for n in ("6M", "c:cores0=6M,c:numa0=6M"))
assert each["places"] == named["places"], (each["places"], named["places"])  # parts of one processor, each its own
PY
expect 7 'error: device c:numa0: the plan needs ' train deep.json --data x=x.npy --loss loss --batch 64 --shards 2 -o none \
    --target c:cores0,c:numa0 --mem-limit c:cores0=64M,c:numa0=1M
expect 7 'error: device c: the plan needs 8.9 MiB' explain deep.json --dim batch=64 --target c:cores0,c:numa0 --mem-limit 6M,c=8M
expect 7 'error: device c:cores0: the plan needs ' explain deep.json --dim batch=64 --target c:cores0,c:numa0 --mem-limit 3M
expect 7 'hint: bind smaller dimensions, spread it over devices' explain deep.json --dim batch=64 --mem-limit 4M
expect 7 'error: device c: the plan needs 8.' explain deep.json --dim batch=64 --mem-limit 4M
finish
