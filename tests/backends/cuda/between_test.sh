#!/bin/sh
# between_test.sh - values of a plan over two cards go straight from one to the other: what crosses the bus are inputs,
# weights, results and marks of kernels, as many copies as on one card, and each transfer of the plan is one between cards.
# ctest: drivers
. "$SOURCE/tests/cli/expect.sh"
. "$SOURCE/tests/backends/cuda/stand_in.sh"
cd "$dir" || exit 1
export SIMCUDA_DEVICES=2
echo '{"format": "tiling/1", "rules": [{"match": {"op": ["layer_norm", "softmax"]}, "place": "cuda:1"}, {"place": "cuda:0"}]}' >places.json
run() { # FOLDER ARGUMENT...
    name=$1
    shift
    SIMCUDA_COPIES=$name.copies "$TESSERA" run bert-tiny --dim seq=4 --seed 1 -q -o "$name" "$@" >said 2>&1 || wrong "$*: $(cat said)"
}
run both --target cuda:0,cuda:1 -s ./places.json
sed "s/cuda:1/c/" places.json >host.json
run host --target cuda:0,c -s ./host.json
"$TESSERA" explain bert-tiny --dim seq=4 --target cuda:0,cuda:1 -s ./places.json --json >plan.json
checked=$((checked + 1))
"${PYTHON:-python3}" - <<'PY' || wrong "values between cards go by the host: $(cat both.copies)"
import json
plan, both, host = (json.load(open(f)) for f in ("plan.json", "both.copies", "host.copies"))
moved = sum(p["transfers"] for p in plan["places"])
print(moved, "transfers:", both)
assert moved > 4 and both["between"] == moved and host["between"] == 0
assert both["bytes_between"] == sum(p["received_bytes"] for p in plan["places"])
assert both["to_host"] < moved and host["to_host"] > moved / 2
PY
finish
