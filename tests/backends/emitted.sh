# emitted.sh - what tests of programs that run on a device share; sourced, in a folder of their own, where `build FOLDER`
# builds one. Each gives the bits of a run here.
# shellcheck shell=sh disable=SC2086

products='--dim m=37 --dim k=70 --dim n=50 --dim layers=2' # extents that no step divides

# products_agree TARGET
products_agree() {
    python3 - <<'PY'
import numpy as np
np.save("x.npy", (np.arange(37 * 70).reshape(37, 70) % 5 - 2).astype(np.float32))
PY
    "$TESSERA" run products $products --in x=x.npy --target "$1" -q --out here
    "$TESSERA" run products $products --in x=x.npy --target interp -q --out right
    python3 -c 'import numpy as np; assert np.allclose(np.load("right/y.npy"), np.load("here/y.npy"), 1e-4, 1e-4)'
    "$TESSERA" emit products $products --target "$1" -q -o there
    build there
    (cd there && ./model ../x.npy)
    cmp here/y.npy there/output0.npy
}

# language_agrees TARGET: a language model; then an index that leads outside is said
language_agrees() {
    "$TESSERA" emit gpt2-tiny --target "$1" -q -o text
    build text
    python3 - <<'PY'
import json, numpy as np
types = {"i64": np.int64, "i32": np.int32, "f32": np.float32}
ports = json.load(open("text/ports.json"))["inputs"]
for i, p in enumerate(ports):
    v = np.arange(int(np.prod(p["shape"], dtype=np.int64))).reshape(p["shape"]) % 3
    np.save(f"{p['name']}.npy", v.astype(types[p["dtype"]]))
    if i == 0:
        np.save("outside.npy", (v + 1000000).astype(types[p["dtype"]]))
open("names", "w").write(" ".join(p["name"] for p in ports))
PY
    given= files=
    for name in $(cat names); do given="$given --in $name=$name.npy" files="$files ../$name.npy"; done
    "$TESSERA" run gpt2-tiny $given --target "$1" -q --out said
    (cd text && ./model $files)
    python3 - <<'PY'
import json, numpy as np
for i, p in enumerate(json.load(open("text/ports.json"))["outputs"]):
    assert (np.load(f"said/{p['name']}.npy") == np.load(f"text/output{i}.npy")).all(), p["name"]
PY
    first=$(cut -d' ' -f1 names)
    ! (cd text && ./model $(echo "$files" | sed "s,\.\./$first\.npy,../outside.npy,")) 2>said.txt
    grep -q 'an index lies outside its axis' said.txt
}

# loops_agree TARGET [inside|walked]: a recurrent network of 50 steps, then a loop that ends when its numbers are large;
# so small that a kernel has the whole loop, or so large that each trip is launched
loops_agree() {
    python3 - ${2:-inside} <<'PY'
import json, sys, numpy as np
steps, wide, many = (50, 4, 1) if sys.argv[1] == "inside" else (20, 256, 2048)
rng = np.random.default_rng(3)
times = wide // 4 # the same weights again: a file's text has few numbers
def held(*shape):
    values = rng.uniform(-0.5 / times, 0.5 / times, shape).astype(np.float32)
    return {"dtype": "f32", "shape": list(shape), "data": [float(v) for v in values.flat]}
def numbers(*v):
    return {"dtype": "i64", "shape": [len(v)], "data": list(v)}
def one(dtype, v, shape=()):
    return {"dtype": dtype, "shape": list(shape), "data": [v]}
scalar = lambda name, dtype: {"name": name, "dtype": dtype, "shape": []}
state = {"name": "s", "dtype": "f32", "shape": [many, 1, wide]}
body = {"inputs": [scalar("i", "i64"), scalar("go", "bool"), state, scalar("k", "i64")],
        "outputs": [{"name": "on"}, {"name": "t"}, {"name": "k2"}],
        "nodes": [{"op": "Abs", "in": ["s"], "out": ["a"]}, {"op": "Add", "in": ["a", "s"], "out": ["b"]},
                  {"op": "Cast", "in": ["i"], "out": ["f"], "attr": {"to": 1}},
                  {"op": "Add", "in": ["b", "f"], "out": ["t"]},
                  {"op": "ReduceMax", "in": ["t"], "out": ["m"], "attr": {"keepdims": 0}},
                  {"op": "Less", "in": ["m", "large"], "out": ["on"]}, {"op": "Add", "in": ["k", "i"], "out": ["k2"]}]}
model = {"format": "graph/1", "opset": {"": 17},
         "inputs": [{"name": "x", "dtype": "f32", "shape": [steps, 1, 3]}],
         "outputs": [{"name": "y"}, {"name": "h"}, {"name": "end"}, {"name": "sum"}],
         "constants": {"W4": held(1, 16, 3), "R4": held(1, 16, 4), "B4": held(1, 32), "few": numbers(1, times, 1),
                       "square": numbers(1, times, times), "line": numbers(1, times),
                       "large": one("f32", 1000.0), "all": numbers(many, 1, wide),
                       "trips": one("i64", 40), "none": one("i64", 0), "yes": one("bool", True)},
         "nodes": [{"op": "Tile", "in": ["W4", "few"], "out": ["W"]}, {"op": "Tile", "in": ["R4", "square"], "out": ["R"]},
                   {"op": "Tile", "in": ["B4", "line"], "out": ["B"]}, {"op": "LSTM", "in": ["x", "W", "R", "B"], "out": ["y", "h"], "attr": {"hidden_size": wide}},
                   {"op": "Expand", "in": ["h", "all"], "out": ["start"]},
                   {"op": "Loop", "in": ["trips", "yes", "start", "none"], "out": ["end", "sum"], "attr": {"body": body}}]}
json.dump(model, open("loops.json", "w"))
np.save("steps.npy", rng.uniform(-1, 1, (steps, 1, 3)).astype(np.float32))
PY
    "$TESSERA" run loops.json --in x=steps.npy --target "$1" -q --out looped
    "$TESSERA" run loops.json --in x=steps.npy --target interp -q --out meant
    rm -rf loops
    "$TESSERA" emit loops.json --target "$1" -q -o loops
    walks=$(grep -c '^static const loop_row' loops/program.c || true)
    [ "$1" = c ] || [ "$walks" = "$([ "${2:-inside}" = inside ] && echo 0 || echo 1)" ]
    build loops
    (cd loops && ./model ../steps.npy)
    python3 - <<'PY'
import numpy as np
for i, name in enumerate(["y", "h", "end", "sum"]):
    here, there = np.load(f"looped/{name}.npy"), np.load(f"loops/output{i}.npy")
    assert (here == there).all(), name
    assert np.allclose(here, np.load(f"meant/{name}.npy"), 1e-4, 1e-4), name
assert 1000 <= np.load("looped/end.npy").max() < 4000 # it ended as it should
PY
}

# launches_agree TARGET [--machine TEXT]: small kernels of two texts and more are one launch; then an index that leads
# one of them outside
launches_agree() {
    python3 - <<'PY'
import json, numpy as np
sizes = [40, 70, 40, 1000, 40]
model = {"format": "graph/1", "opset": {"": 17}, "outputs": [{"name": f"y{i}"} for i in range(len(sizes))] + [{"name": "g"}],
         "inputs": [{"name": f"x{i}", "dtype": "f32", "shape": [n]} for i, n in enumerate(sizes)] +
                   [{"name": "at", "dtype": "i64", "shape": [9]}],
         "nodes": [{"op": "Exp" if i == 1 else "Neg", "in": [f"x{i}"], "out": [f"y{i}"]} for i in range(len(sizes))] +
                  [{"op": "Gather", "in": ["x3", "at"], "out": ["g"]}]}
json.dump(model, open("small.json", "w"))
for i, n in enumerate(sizes):
    np.save(f"x{i}.npy", (np.arange(n) % 7 - 3 + i).astype(np.float32))
np.save("at.npy", np.arange(9) * 100)
np.save("far.npy", np.arange(9) * 200)
PY
    files='../x0.npy ../x1.npy ../x2.npy ../x3.npy ../x4.npy'
    given=$(for i in 0 1 2 3 4; do echo "--in x$i=x$i.npy"; done)
    "$TESSERA" explain small.json --target "$@" --all | grep -q 'launched with [0-9]* others, at k5'
    "$TESSERA" run small.json $given --in at=at.npy --target "$@" -q --out side
    "$TESSERA" run small.json $given --in at=at.npy --target interp -q --out meant
    "$TESSERA" emit small.json --target "$@" -q -o small
    [ "$(grep -c '{"", "", 0, ' small/program.c)" -ge 3 ]
    build small
    (cd small && ./model $files ../at.npy)
    python3 - <<'PY'
import numpy as np
for i, name in enumerate(["y0", "y1", "y2", "y3", "y4", "g"]):
    here, there = np.load(f"side/{name}.npy"), np.load(f"small/output{i}.npy")
    assert (here == there).all() and np.allclose(here, np.load(f"meant/{name}.npy"), 1e-6), name
PY
    ! (cd small && ./model $files ../far.npy) 2>said.txt
    grep -q 'an index lies outside its axis' said.txt
    ! "$TESSERA" run small.json $given --in at=far.npy --target "$@" -q --out side 2>said.txt
    ! "$TESSERA" run small.json $given --in at=far.npy --target c -q --out side 2>meant.txt
    cmp said.txt meant.txt
}

# extents_agree TARGET: sums and products along an extent that a run says, which grows and shrinks; one beyond its range
extents_agree() {
    cp "$SOURCE/tests/backends/gpu/rows.json" .
    "$TESSERA" emit rows.json --dim seq=1..20 --target "$1" -q -o ranged
    build ranged
    for n in 20 3 1 17; do
        python3 - "$n" <<'PY'
import sys
import numpy as np
n = int(sys.argv[1])
np.save("rows.npy", np.sin(np.arange(n * 24, dtype=np.float32)).reshape(n, 24))
np.save("w.npy", np.cos(np.arange(24 * 20, dtype=np.float32)).reshape(24, 20))
PY
        "$TESSERA" run rows.json --dim seq=1..20 --in x=rows.npy --in w=w.npy --target "$1" -q --out range
        "$TESSERA" run rows.json --in x=rows.npy --in w=w.npy --target interp -q --out exact
        (cd ranged && ./model -n "$n" ../rows.npy ../w.npy)
        python3 - "$n" <<'PY'
import sys
import numpy as np
for i, name in enumerate("psg"):
    here, there, exact = (np.load(f) for f in (f"range/{name}.npy", f"ranged/output{i}.npy", f"exact/{name}.npy"))
    assert here.shape == there.shape == exact.shape and (here == there).all(), (name, sys.argv[1])
    assert np.allclose(there, exact, 1e-4, 1e-4), (name, sys.argv[1])
PY
    done
    ! (cd ranged && ./model -n 21 ../rows.npy ../w.npy) 2>said.txt
    grep -q '21: is not a list of sizes within their ranges' said.txt
    (cd ranged && ./model -n 5 >timed.txt) # numbers of its own
    grep -q median ranged/timed.txt
}
