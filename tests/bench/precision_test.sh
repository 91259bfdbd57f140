#!/bin/sh
# precision_test.sh - passes whose products are formed from halves: they differ from the reference by roundings, results
# say in what they were computed, and peers that have no such pass say so.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
"$TESSERA" bench "matmul f32[9,64] f32[64,8]" --precision bf16 --min-time 1ms --launches 1 --threads 1 -q -o bf16.json \
    >said 2>&1
checked=$((checked + 1))
"${PYTHON:-python3}" - "$BUILD/peers" <<'PY' || wrong "bf16: $(cat said)"
import json, sys
r = json.load(open("bf16.json"))
(c,) = r["candidates"]
assert r["config"]["precision"] == "bf16"
assert 2**-14 < c["numerics"]["max_rel"] < 2**-6 and c["numerics"]["tolerance"] == 2**-4, c["numerics"]

sys.path.insert(0, sys.argv[1])
import _torch_cuda, _peer

class Plain:
    def open(self, model, inputs, threads):
        return {}

made = _peer.Contestant.__new__(_peer.Contestant)
made.peer = Plain()
try:
    made.open(json.dumps({"model": "m", "threads": 1, "inputs": [], "precision": "bf16"}))
    sys.exit("a peer of f32 takes bf16")
except _peer.Absent as why:
    assert str(why) == "it has no pass in bf16 here", why
assert "bf16" in _torch_cuda.Networks.precisions
PY
checked=$((checked + 1))
sed 's/"precision": *"bf16"/"precision":"f16"/' bf16.json >f16.json
cmp -s bf16.json f16.json && wrong "the results do not say the precision"
"$TESSERA" compare bf16.json f16.json >said 2>&1 && wrong "files of two precisions are compared"
grep -q 'precision' said || wrong "compare does not name it: $(cat said)"
finish
