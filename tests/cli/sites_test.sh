#!/bin/sh
# One model on two devices: the values are those of one, what explain and the profile show of it, and wrong places.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
python3 -c 'import numpy' 2>/dev/null || { echo "skipped: python3 has no numpy"; exit 77; }
small="--dim seq=8 --threads 2"
cat >cut.json <<'JSON'
{ "format": "tiling/1", "name": "cut",
  "rules": [ { "name": "norms", "match": { "op": ["layer_norm", "softmax"] }, "place": "interp" } ] }
JSON
sed 's/"interp"/"moon:1"/' cut.json >moon.json
sed 's/"layer_norm", "softmax"/"gather_nd"/' cut.json >none.json

# shellcheck disable=SC2086
{
"$TESSERA" run bert-tiny --seed 1 --out one $small -q >text || wrong "run on one device fails"
expect 0 'last_hidden_state  f32    [1, 8, 128]' run bert-tiny --seed 1 --out two -s cut.json $small
python3 - <<'PY' || wrong "two devices give something else than one"
import numpy as np
for name in "last_hidden_state", "pooler_output":
    a, b = np.load(f"one/{name}.npy"), np.load(f"two/{name}.npy")
    assert np.abs(a - b).max() < 1e-5, np.abs(a - b).max()
PY
expect 0 'interp to c, 4 KiB' explain bert-tiny -s cut.json $small
expect 0 'layer_norm f32  embeddings.word_embeddings.weight  on interp  (rule guess)' explain bert-tiny -s cut.json $small
"$TESSERA" explain bert-tiny -s cut.json $small --json >plan.json || wrong "explain --json fails"
python3 - <<'PY' || wrong "what explain says of the cut does not add up" "$(head -c 300 plan.json)"
import json
plan = json.load(open("plan.json"))
place = {p["name"]: p for p in plan["places"]}
assert list(place) == ["c", "interp"], place
moved = [k for k in plan["kernels"] if "transfer" in k]
assert moved and all(k["op"] == "transfer" and k["place"] == k["transfer"]["to"] for k in moved)
for name, p in place.items():
    assert p["kernels"] == sum(k["place"] == name and "transfer" not in k for k in plan["kernels"])
    assert p["received_bytes"] == sum(k["transfer"]["bytes"] for k in moved if k["transfer"]["to"] == name)
    assert p["sent_bytes"] == sum(k["transfer"]["bytes"] for k in moved if k["transfer"]["from"] == name)
    assert p["transfers"] == sum(k["transfer"]["to"] == name for k in moved)
for key in "arena_bytes", "lower_bound_bytes", "weights_bytes":
    assert plan["memory"][key] == sum(p[key] for p in place.values()), key
PY
expect 3 'moon.json:2:88 (/rules/0/place): no device "moon:1"' explain bert-tiny -s moon.json $small
expect 0 'rule "norms" decides no kernel: the plan has none of its operations' explain bert-tiny -s none.json $small
expect 0 'the guess spreads kernels over devices by their costs' explain bert-tiny --target c,interp $small
expect 0 'last_hidden_state  f32    [1, 8, 128]' run bert-tiny --seed 1 --target c,interp $small
export OCL_ICD_VENDORS=/nonexistent # a device that is not here
sed 's/"interp"/"opencl:0"/' cut.json >gone.json
expect 9 'gone.json:2:88 (/rules/0/place): ' explain bert-tiny -s gone.json $small
unset OCL_ICD_VENDORS
expect 2 'device c is named twice' explain bert-tiny --target c,c $small
}
finish
