#!/bin/sh
# What "+a@l2*2" and "+y@l2*2" become: every line of the next slice is asked for once while a tile is computed, in one
# piece or in rows that lie apart.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
cat >product.json <<'JSON'
{"format": "graph/1", "opset": {"": 17}, "inputs": [{"name": "a", "dtype": "f32", "shape": [240, 64]},
 {"name": "b", "dtype": "f32", "shape": [64, 96]}], "outputs": [{"name": "y"}],
 "nodes": [{"op": "MatMul", "in": ["a", "b"], "out": ["y"]}]}
JSON
cat >ahead.json <<'JSON'
{"format": "tiling/1", "rules": [{"name": "r", "match": {"op": "matmul"},
 "loops": "n/48 m/8+y@l2*2+a@l2*2 k/4 k@unroll m@unroll n@vector"}]}
JSON
expect 0 "+y@l2*2" explain product.json -s ahead.json --isa avx512
expect 0 "wrote code; build it" emit product.json -s ahead.json --isa avx512 -o code
python3 - code/k_*.c <<'PY' || wrong "lines of the next slices" "$(grep PREFETCH code/k_*.c)"
import re, sys
text = open(sys.argv[1]).read()
tile = text[text.index("static void tile0"):text.index("void k_")]
asked = {"ahead0": [], "ahead_y": []}
for k in range(16):
    on = True
    for line in tile.splitlines():
        if "if (" in line and "%" in line:
            on = eval(re.search(r"if \((.*)\)", line)[1], {"k_2": k})
        elif "PREFETCH" in line:
            pieces = re.search(r"piece < (\d+)", line)
            at = re.search(r"PREFETCH\((\w+) \+ (.*), 2\)", line)
            for piece in range(int(pieces[1]) if pieces else 1):
                if on:
                    asked[at[1]].append(eval(at[2].replace("/", "//"), {"k_2": k, "piece": piece}))
            on = True
assert sorted(asked["ahead0"]) == [64 * i for i in range(8 * 64 * 4 // 64)], asked
rows = {96 * 4 * row + 64 * i for row in range(8) for i in range(3)}
assert rows <= set(asked["ahead_y"]) and len(asked["ahead_y"]) <= len(rows) + 8, asked
PY
cat >copied.json <<'JSON'
{"format": "tiling/1", "rules": [{"name": "r", "match": {"op": "matmul"},
 "loops": "n/48+b+b@l2*2 m/8 k/4 k@unroll m@unroll n@vector"}]}
JSON
expect 0 "+b+b@l2*2" explain product.json -s copied.json --isa avx512
expect 0 "wrote copied; build it" emit product.json -s copied.json --isa avx512 -o copied
python3 - copied/k_*.c <<'PY' || wrong "lines of the next panel" "$(grep PREFETCH copied/k_*.c)"
import re, sys
text = open(sys.argv[1]).read()
step = int(re.search(r"ahead1 \+ (\d+) \* m_1", text)[1])
rows, per = step // (96 * 4), re.search(r"piece < (\d+)", text)
assert rows == (int(per[1]) if per else 1) and rows * 30 >= 64, text
assert re.search(r"ahead1 = \(const char \*\)\(x1 \+ 48 \* n_0 \+ 48\)", text), text
PY
finish
