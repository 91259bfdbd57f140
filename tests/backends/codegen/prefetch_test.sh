#!/bin/sh
# What "+a@l2*2", "+y@l2*2" and "+b+b@l2*2" become: every line of the next slice is asked for once while a tile is computed,
# or while all tiles under a copy are, in one piece or in rows that lie apart; at a loop that stages share, while all tiles
# of the stage under it are; at the start of a tile that folds nothing.
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
asked = {name: [] for name in re.findall(r"char \*(prefetch\w+)[,)]", tile)}  # by one tile, bytes from where it is pointed to
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
emitted() { # NAME STAGED LOOPS [MACHINE]: the product under these loops, as C, for a machine with this besides
    echo "{\"format\": \"tiling/1\", \"rules\": [{\"name\": \"r\", \"match\": {\"op\": \"matmul\"}, \"loops\": \"$3\"}]}" >"$1.json"
    expect 0 "$2" explain product.json -s "$1.json" --machine "core:2 l3:1(32MB) isa:avx512 ${4-}"
    expect 0 "wrote $1; build it" emit product.json -s "$1.json" --machine "core:2 l3:1(32MB) isa:avx512 ${4-}" -o "$1"
}
emitted slices "+y@l2*2" "n/48 m/8+y@l2*2+a@l2*2 k/4 k@unroll m@unroll n@vector"
python3 - slices/k_*.c <<'PY' || wrong "lines of the next slices" "$(grep PREFETCH slices/k_*.c)"
from asked import *
assert sorted(asked["prefetch0"]) == [64 * i for i in range(8 * 64 * 4 // 64)], asked
assert rows(8) <= set(asked["prefetch_y"]) and len(asked["prefetch_y"]) <= len(rows(8)) + 8, asked
PY
emitted lines "+y@l2*2" "n/48 m/8+y@l2*2+a@l2*2 k/4 k@unroll m@unroll n@vector" line:128
python3 - lines/k_*.c <<'PY' || wrong "lines of 128 bytes" "$(grep PREFETCH lines/k_*.c)"
from asked import *
assert sorted(asked["prefetch0"]) == [128 * i for i in range(8 * 64 * 4 // 128)], asked
PY
emitted past "+b@nta*2" "n/48+b@nta*2 m/8 k/4 k@unroll m@unroll n@vector"
grep -q 'PREFETCH(prefetch1.*, 3);' past/k_*.c && grep -q 'define PREFETCH.*__builtin_prefetch(p, 0, .* : 0)' past/k_*.c ||
    wrong "non-temporal data" "$(grep PREFETCH past/k_*.c)"
emitted copied "+b+b@l2*2" "n/48+b+b@l2*2 m/8 k/4 k@unroll m@unroll n@vector"
python3 - copied/k_*.c <<'PY' || wrong "lines of the next panel" "$(grep -E 'PREFETCH|prefetch' copied/k_*.c)"
from asked import *
step = int(re.search(r"prefetch1 \+ (\d+) \* m_1", text)[1])
lines = [step * tile + at for tile in range(240 // 8) for at in asked["prefetch1"]]
assert rows(64) <= set(lines) and len(set(lines)) == len(lines), lines
assert re.search(r"prefetch1 = \(const char \*\)\(x1 \+ 48 \* n_0 \+ 48\)", text), text
PY
python3 - <<'PY'
import json
heads = [node for x, perm in (("q", [1, 0, 2]), ("k", [1, 2, 0]), ("v", [1, 0, 2])) for node in (
    {"op": "Reshape", "in": [x, "shape"], "out": [x + "1"]},
    {"op": "Transpose", "in": [x + "1"], "out": [x + "2"], "attr": {"perm": perm}})]
nodes = heads + [{"op": "MatMul", "in": ["q2", "k2"], "out": ["s"]}, {"op": "Softmax", "in": ["s"], "out": ["p"]},
                 {"op": "MatMul", "in": ["p", "v2"], "out": ["y"]}]
json.dump({"format": "graph/1", "opset": {"": 17}, "nodes": nodes, "outputs": [{"name": "y"}],
           "inputs": [{"name": x, "dtype": "f32", "shape": [64, 128]} for x in "qkv"],
           "constants": {"shape": {"dtype": "i64", "shape": [3], "data": [64, 2, 64]}}}, open("heads.json", "w"))
json.dump({"format": "tiling/1", "rules": [{"name": "r", "match": {"op": "attention"}, "loops":
           "h+matmul.b+matmul.b@l2*2+matmul.a@l2*2+matmul2.b@l2*2 q/32 ; matmul: n/32 q/8 k/4 k@unroll q@unroll n@vector ; matmul2: n/32 q/8 k/4 k@unroll q@unroll n@vector"}]},
          open("shared.json", "w"))
PY
expect 0 "+matmul2.b@l2*2 q/32" explain heads.json -s shared.json --machine "core:2 l3:1(32MB) isa:avx512"
expect 0 "wrote shared; build it" emit heads.json -s shared.json --machine "core:2 l3:1(32MB) isa:avx512" -o shared
python3 - shared/k_*.c <<'PY' || wrong "lines of the next head" "$(grep -E 'PREFETCH|prefetch' shared/k_*.c)"
import itertools, re, sys
text = next(t for t in map(lambda p: open(p).read(), sys.argv[1:]) if "prefetch_matmul" in t)
head = {128 * 4 * row + 64 * i for row in range(64) for i in range(64 * 4 // 64)}
for name, inside in (("matmul_a", "prefetch0"), ("matmul_b", "prefetch1"), ("matmul2_b", "prefetch1")):
    number, call = re.search(r"(tile\d+)\([^;]*prefetch_" + name + r"((?: \+ \d+ \* \w+)*)", text).groups()
    body = re.search(r"static void " + number + r"\(.*?\n}\n", text, re.S)[0]
    asked = [(int(pieces), eval(at.replace("/", "//"), {"k_2": k, "piece": piece}))
             for k in range(16) for on, pieces, at in re.findall(
                 r"if \((.*)\)\n\s*(?:for \(long piece = 0; piece < (\d+); piece\+\+\) )?PREFETCH\(" + inside + r" \+ (.*), 2\)", body)
             if eval(on, {"k_2": k}) for piece in range(int(pieces))]
    steps = re.findall(r"(\d+) \* (\w+)", call)
    trips = [int(re.search(r"for \(long " + by + r" = 0; \w+ < (\d+);", text)[1]) for _, by in steps]
    lines = [at + sum(int(s) * t for (s, _), t in zip(steps, trip)) for trip in itertools.product(*map(range, trips))
             for _, at in asked]
    assert set(lines) == head and len(lines) == len(head), (name, call, len(lines), len(set(lines) ^ head))
PY
# copied and fetched at a shared loop whose last trip is a shorter one: its tiles are those of the others
echo '{"format": "tiling/1", "rules": [{"match": {"op": "attention"}, "loops":
 "h q/48+matmul.a+matmul.a@l2*2 ; matmul: n/32 q/8 k/4 k@unroll q@unroll n@vector"}]}' >rest.json
expect 0 "q/48+matmul.a+matmul.a@l2*2" explain heads.json -s rest.json --machine "core:2 l3:1(32MB) isa:avx512"
expect 0 "wrote rest; build it" emit heads.json -s rest.json --machine "core:2 l3:1(32MB) isa:avx512" -o rest
for file in rest/k_*.c; do
    "${CC:-cc}" -std=gnu11 -Wall -Wextra -Werror -fsyntax-only "$file" || wrong "arguments of the shorter trip"
done
cat >flat.json <<'JSON'
{"format": "graph/1", "opset": {"": 17}, "inputs": [{"name": "a", "dtype": "f32", "shape": [4, 6, 640]}],
 "nodes": [{"op": "Transpose", "in": ["a"], "out": ["t"], "attr": {"perm": [1, 0, 2]}}, {"op": "Exp", "in": ["t"], "out": ["y"]}],
 "outputs": [{"name": "y"}]}
JSON
echo '{"format": "tiling/1", "rules": [{"loops": "b1+y@l2*2+a@l2*2 b e/64 e@vector"}]}' >rows.json
expect 0 "b1+y@l2*2+a@l2*2 b" explain flat.json -s rows.json --machine "core:2 l3:1(32MB) isa:avx512"
expect 0 "wrote flat; build it" emit flat.json -s rows.json --machine "core:2 l3:1(32MB) isa:avx512" -o flat
"${CC:-cc}" -std=gnu11 -Wall -Wextra -Werror -fsyntax-only flat/k_*.c || wrong "warnings"
python3 - flat/k_*.c <<'PY' || wrong "lines of the next rows" "$(grep -E 'PREFETCH|prefetch' flat/k_*.c)"
import itertools, re, sys
text = open(sys.argv[1]).read()
for name, want in (("prefetch_y", {64 * i for i in range(4 * 40)}), ("prefetch0", {15360 * row + 64 * i for row in range(4) for i in range(40)})):
    pieces, lines, at = re.search(r"\n    (?:for \(long piece = 0; piece < (\d+); piece\+\+\) )?(?:for \(long line = 0; line < (\d+); "
                                  r"line\+\+\) )?PREFETCH\(" + name + "(.*), 2\\)", text).groups()
    steps = re.findall(r"(\d+) \* (\w+)", re.search(r"tile0\([^;{]*" + name + r"((?: \+ \d+ \* \w+)+)", text)[1])
    asked = [eval("0" + at, {"piece": piece, "line": line}) + sum(int(s) * t for (s, _), t in zip(steps, trip))
             for piece in range(int(pieces or 1)) for line in range(int(lines or 1))
             for trip in itertools.product(*(range(10 if by[0] == "e" else 4) for _, by in steps))]
    assert set(asked) == want and len(asked) == len(want), (name, at, steps, len(asked), len(want))
PY
finish
