#!/bin/sh
# What "+a@l2*2", "+y@l2*2" and "+b+b@l2*2" become: every line of the next slice is asked for once while a tile is computed,
# or while all tiles under a copy are, in one piece or in rows that lie apart.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
cat >product.json <<'JSON'
{"format": "graph/1", "opset": {"": 17}, "inputs": [{"name": "a", "dtype": "f32", "shape": [240, 64]},
 {"name": "b", "dtype": "f32", "shape": [64, 96]}], "outputs": [{"name": "y"}],
 "nodes": [{"op": "MatMul", "in": ["a", "b"], "out": ["y"]}]}
JSON
cat >asked.py <<'PY'
import re, sys
text = open(sys.argv[1]).read()
tile = text[text.index("static void tile0"):text.index("void k_")]
asked = {name: [] for name in re.findall(r"char \*(ahead\w+)[,)]", tile)}  # by one tile, bytes from where it is pointed to
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
def rows(n): return {96 * 4 * row + 64 * i for row in range(n) for i in range(48 * 4 // 64)}
PY
emitted() { # NAME STAGED LOOPS: the product under these loops, as C
    echo "{\"format\": \"tiling/1\", \"rules\": [{\"name\": \"r\", \"match\": {\"op\": \"matmul\"}, \"loops\": \"$3\"}]}" >"$1.json"
    expect 0 "$2" explain product.json -s "$1.json" --isa avx512
    expect 0 "wrote $1; build it" emit product.json -s "$1.json" --isa avx512 -o "$1"
}
emitted slices "+y@l2*2" "n/48 m/8+y@l2*2+a@l2*2 k/4 k@unroll m@unroll n@vector"
python3 - slices/k_*.c <<'PY' || wrong "lines of the next slices" "$(grep PREFETCH slices/k_*.c)"
from asked import *
assert sorted(asked["ahead0"]) == [64 * i for i in range(8 * 64 * 4 // 64)], asked
assert rows(8) <= set(asked["ahead_y"]) and len(asked["ahead_y"]) <= len(rows(8)) + 8, asked
PY
emitted copied "+b+b@l2*2" "n/48+b+b@l2*2 m/8 k/4 k@unroll m@unroll n@vector"
python3 - copied/k_*.c <<'PY' || wrong "lines of the next panel" "$(grep -E 'PREFETCH|ahead' copied/k_*.c)"
from asked import *
step = int(re.search(r"ahead1 \+ (\d+) \* m_1", text)[1])
lines = [step * tile + at for tile in range(240 // 8) for at in asked["ahead1"]]
assert rows(64) <= set(lines) and len(set(lines)) == len(lines), lines
assert re.search(r"ahead1 = \(const char \*\)\(x1 \+ 48 \* n_0 \+ 48\)", text), text
PY
finish
