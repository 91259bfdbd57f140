#!/bin/sh
# The ledger of a plan: whoever reads a value waits, at last, for who wrote it, on one device and over two; nobody writes over
# what is still to be read; states are written for their inputs, and read by the next run.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
small="--dim seq=8 --threads 2"
cat >cut.json <<'JSON'
{ "format": "tiling/1", "name": "cut",
  "rules": [ { "name": "norms", "match": { "op": ["layer_norm", "softmax"] }, "place": "interp" } ] }
JSON
cat >check.py <<'PY'
import json, sys
ledger = json.load(open(sys.argv[1]))
number = lambda name: int(name[1:])
kernels, before = ledger["kernels"], []
for k in kernels: # all that a kernel has waited for when it begins
    waits = {number(w["for"]) for w in k["waits"]}
    assert all(w < len(before) for w in waits), k
    before.append(waits.union(*[before[w] for w in waits]))
devices = {d["name"] for d in ledger["devices"]}
assert len(devices) == int(sys.argv[2]), devices
read = 0
for b in ledger["buffers"]:
    assert b["device"] in devices and b["stream"] == 0, b
    reads = [number(r) for r in b["reads"]]
    if b["written"] == "host":
        assert b["newest"] == "missing", b
        continue
    by = number(b["written"])
    for r in reads:
        if r > by:
            read += 1
            assert by in before[r], (b, r)
    assert not reads or (number(b["last"]) == max(reads) and number(b["next"]) in reads), b
    if "over" in b: # takes the place of a value: by then nobody else reads that
        old = next(o for o in ledger["buffers"] if o["written"] == b["over"] and o["device"] == b["device"])
        assert all(number(r) in before[by] | {by} for r in old["reads"]), (b, old)
assert read > 20, read
moved = [k for k in kernels if k["op"] == "transfer"]
assert bool(moved) == (len(devices) > 1)
assert all(k["waits"] and w["by"] in ("end", "transfer") for k in moved for w in k["waits"])
hows = {w["by"] for k in kernels for w in k["waits"]}
assert hows == ({"barrier"} if len(devices) == 1 else {"barrier", "transfer", "end"}), hows
PY
for cut in "1" "2 -s cut.json"; do
    # shellcheck disable=SC2086
    "$TESSERA" explain bert-tiny --ledger --json $small ${cut#?} >ledger.json || wrong "explain --ledger fails"
    "${PYTHON:-python3}" check.py ledger.json "${cut%% *}" || wrong "the ledger over ${cut%% *} does not add up"
done
# shellcheck disable=SC2086
expect 0 'k1 (barrier), k2 (barrier), k3 (barrier)' explain bert-tiny --ledger $small
expect 0 'read next  last' explain bert-tiny --ledger --threads 1 --dim seq=8
printf 'x\t1\ny\t0\n' >train.tsv
"$TESSERA" train bert-tiny --data train.tsv --tokenizer bytes --length 8 --batch 2 --steps 1 -q -o run >said 2>&1 || wrong "train fails" "$(cat said)"
expect 2 'explain: --op is about kernels, and --ledger lists values' explain bert-tiny --dim seq=8 --ledger --op x
expect 2 'explain: --dump is about kernels' explain bert-tiny --dim seq=8 --ledger --dump text=out
expect 2 'hint: tessera config; see tessera help config' config nothing
"$TESSERA" explain run --ledger --json >step.json || wrong "explain --ledger of a step fails"
"${PYTHON:-python3}" - <<'PY' || wrong "the ledger of a step does not tell its states"
import json
state = [b for b in json.load(open("step.json"))["buffers"] if "becomes" in b]
assert any(b["becomes"] == "head.weight" for b in state), [b["becomes"] for b in state]
assert all(b["place"] == "input" and b["written"] != "host" for b in state)
PY
finish
