#!/bin/sh
# Operands beyond the alphabet's have names that rules take as explain prints them: b1 is operand 27. Copied, fetched and
# laid out by them a model computes the same.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
"${PYTHON:-python3}" - <<'PY'
import json, numpy
rng = numpy.random.default_rng(1)
names = [f"x{i}" for i in range(30)]
port = [{"name": n, "dtype": "f32", "shape": [48, 40]} for n in names]
nodes, last = [], None
for i, n in enumerate(names):  # every other one turned
    if i % 2:
        nodes.append({"op": "Transpose", "in": [f"w{i}"], "out": [f"t{i}"]})
    at = f"t{i}" if i % 2 else n
    nodes.append({"op": "Add", "in": [last, at], "out": [f"s{i}"]} if last else {"op": "Neg", "in": [at], "out": ["s0"]})
    last = f"s{i}"
weights = {f"w{i}": {"shape": [40, 48], "dtype": "f32"} for i in range(1, 30, 2)}
json.dump({"format": "graph/1", "opset": {"": 17}, "outputs": [{"name": "s29"}],
           "inputs": port[::2] + [{"name": n, **w} for n, w in weights.items()], "nodes": nodes}, open("many.json", "w"))
PY
tile() { # NAME LOOPS LAYOUT
    echo "{\"format\": \"tiling/1\", \"rules\": [{\"loops\": \"$2\", \"layout\": {$3}}]}" >"$1.json"
}
axes=$("$TESSERA" explain many.json --json | "${PYTHON:-python3}" -c '
import json, sys
k, = json.load(sys.stdin)["kernels"]
print(*k["dims"], *[o["operand"] for o in k["operands"]])')
checked=$((checked + 1))
case $axes in *' z a1 b1 c1 d1 y') ;; *) wrong "operands are called $axes" ;; esac
first=${axes%% *} second=${axes#* } second=${second%% *}
tile copied "$first/8+b1+c1@l2*2 $second $first@unroll" ''
"$TESSERA" explain many.json -s ./copied.json >said || wrong "b1 is not taken: $(cat said)"
checked=$((checked + 1))
grep -q "^    $first/8+b1+c1@l2\*2 $second $first@unroll" said || wrong "other loops are used: $(cat said)"
checked=$((checked + 1))
"$TESSERA" run many.json --seed 1 -s ./copied.json --target c --out copied -q >/dev/null || wrong "the copied one does not run"
"$TESSERA" run many.json --seed 1 --target interp --out plain -q >/dev/null
cmp -s copied/*.npy plain/*.npy || wrong "b1 is copied wrongly"

tile beyond "$first+e1 $second" ''
checked=$((checked + 1))
"$TESSERA" explain many.json -s ./beyond.json >said 2>&1 && wrong "e1 is taken"
grep -qF 'no operand "e1"; add reads 30: a, b, ... in the order of its definition, and writes y' said || wrong "$(cat said)"
tile laid "$first $second" '"b1": "n m", "e1": "n m", "a10": "n"'
checked=$((checked + 1))
"$TESSERA" explain many.json -s ./laid.json >said 2>&1 && wrong "a10 is taken"
grep -qF 'no operand "a10"; they are a, b, ..., the result y or, of a stage, matmul2.b' said || wrong "$(cat said)"
tile laid "$first $second" "\"b1\": \"$second $first\", \"e1\": \"n m\""
"$TESSERA" explain many.json -s ./laid.json >said 2>&1
checked=$((checked + 2))
"$TESSERA" run many.json --seed 1 -s ./laid.json --target c --against plain -q >/dev/null || wrong "b1 is laid out wrongly"
grep -q 'layout of e1 by rule .* left aside: there is no such operand' said || wrong "$(cat said)"
finish
