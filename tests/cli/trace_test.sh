#!/bin/sh
# trace_test.sh - bench --trace and run --trace: a lane for each thread or device, in which spans follow one another, every
# kernel in every pass; what cannot be traced is refused before anything is timed.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
small="--dim seq=8"
cat >lib.py <<'PY'
import json
def read(path):
    t = json.load(open(path))["traceEvents"]
    lanes = {(e["pid"], e["tid"]): e["args"]["name"] for e in t if e["name"] == "thread_name"}
    names = {e["pid"]: e["args"]["name"] for e in t if e["name"] == "process_name"}
    spans = [e for e in t if e["ph"] == "X"]
    for lane in lanes:
        at = 0
        for e in (e for e in spans if (e["pid"], e["tid"]) == lane):
            assert e["ts"] >= at - 0.01 and e["dur"] >= 0, e
            at = e["ts"] + e["dur"]
    assert {(e["pid"], e["tid"]) for e in spans} == set(lanes)
    return names, lanes, spans
def kernels(path):
    return [(k["op"] + " " + k["label"]).strip() for k in json.load(open(path))["kernels"]]
PY
# shellcheck disable=SC2086
{
"$TESSERA" explain bert-tiny $small --threads 2 --json >plan.json || wrong "explain"
"$TESSERA" bench bert-tiny $small --threads 2 -s guess -s naive --min-time 10ms --launches 1 --trace two.json -q >/dev/null ||
    wrong "bench --trace fails"
later "two schemas on two threads" '
names, lanes, spans = read("two.json")
assert names == {1: "guess", 2: "naive"}, names
assert set(lanes.values()) == {"c thread 0", "c thread 1"} and len(lanes) == 4, lanes
mine = [e for e in spans if e["pid"] == 1]
want = kernels("plan.json")
for p in range(3):
    seen = {e["args"]["kernel"] for e in mine if e["args"]["pass"] == p}
    assert seen == set(range(len(want))), (p, seen)
assert all(e["name"] == want[e["args"]["kernel"]] for e in mine)
begins = [min(e["ts"] for e in mine if e["args"]["pass"] == p) for p in range(3)]
ends = [max(e["ts"] + e["dur"] for e in mine if e["args"]["pass"] == p) for p in range(3)]
assert begins[0] >= 0 and all(e <= b for e, b in zip(ends, begins[1:])), (begins, ends)'
cat >cut.json <<'JSON'
{ "format": "tiling/1", "name": "cut", "rules": [ { "name": "norms", "match": { "op": "layer_norm" }, "place": "interp" } ] }
JSON
"$TESSERA" run bert-tiny $small --threads 1 --seed 1 -s cut.json --trace cut.trace -q >/dev/null || wrong "run --trace on two devices fails"
if "$TESSERA" run bert-tiny $small --threads 1 --seed 1 --target opencl --trace opencl.trace -q >/dev/null 2>err; then
    later "one device" '
names, lanes, spans = read("opencl.trace")
assert len(lanes) == 1 and "opencl" in lanes[1, 0], lanes
assert [e["args"]["kernel"] for e in spans] == list(range(len(spans))) and len(spans) > 10'
fi
later "two devices" '
names, lanes, spans = read("cut.trace")
assert sorted(lanes.values()) == ["c", "interp"], lanes
on = {e["cat"]: lanes[e["pid"], e["tid"]] for e in spans}
assert on["layer_norm"] == "interp" and on["matmul"] == "c", on
assert [e["args"]["kernel"] for e in spans] == list(range(len(spans)))'
"$TESSERA" run bert-tiny $small --threads 2 --seed 1 --out plain -q >/dev/null
"$TESSERA" run bert-tiny $small --threads 2 --seed 1 --out traced --trace t.json -q >/dev/null
cmp plain/last_hidden_state.npy traced/last_hidden_state.npy || wrong "a traced run gives other bits"
expect 4 'target interp does not time kernels' run bert-tiny $small --seed 1 --target interp --trace t.json
expect 2 'bench --trace: --sweep is not traced' bench bert-tiny --sweep seq=4,8 --trace t.json
expect 2 'bench --trace: --train is not traced' bench bert-tiny --train --trace t.json
expect 8 'none/t.json' run bert-tiny $small --seed 1 --trace none/t.json
}
finish
