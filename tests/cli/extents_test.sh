#!/bin/sh
# A range of extents on the command line: one program, whatever extent the values given have; what it says of loops; what
# refuses it.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
python3 - <<'PY' || exit 77
import numpy as np
for n in (5, 9):
    np.save(f"ids{n}.npy", np.arange(n, dtype=np.int64).reshape(1, n) + 100)
    np.save(f"ones{n}.npy", np.ones((1, n), np.int64))
    np.save(f"zeros{n}.npy", np.zeros((1, n), np.int64))
far = np.zeros((1, 5), np.int64)
far[0, 3] = 99999
np.save("far.npy", far)
PY
five="--in input_ids=ids5.npy --in attention_mask=ones5.npy --in token_type_ids=zeros5.npy"
nine="--in input_ids=ids9.npy --in attention_mask=ones9.npy --in token_type_ids=zeros9.npy"

for n in 5 9; do
    [ $n = 5 ] && in=$five || in=$nine
    # shellcheck disable=SC2086
    expect 0 "[1, $n, 128]" run bert-tiny $in --dim seq=..16 -o varying
    # shellcheck disable=SC2086
    expect 0 "[1, $n, 128]" run bert-tiny $in -o alone
    checked=$((checked + 1))
    python3 - <<'PY' || wrong "results at $n are others"
import numpy as np
for name in ("last_hidden_state", "pooler_output"):
    a, b = np.load(f"varying/{name}.npy"), np.load(f"alone/{name}.npy")
    assert a.shape == b.shape and np.abs(a - b).max() < 2e-5, (name, a.shape, b.shape)
PY
done
expect 0 '[1, 16, 128]' run bert-tiny --random --dim seq=1..16
expect 0 '[1, 16, 128]' run bert-tiny --random --dim seq=1..16 --nodes '*.mean'
cat >waits.json <<'TEXT'
{ "format": "graph/1", "opset": { "": 17 },
  "inputs": [ { "name": "x", "dtype": "f32", "shape": ["rows", "seq"] }, { "name": "to", "dtype": "i64", "shape": [2] } ],
  "outputs": [ { "name": "y" } ],
  "nodes": [ { "op": "Reshape", "in": ["x", "to"], "out": ["y"] } ] }
TEXT
python3 -c 'import numpy as np
np.save("x.npy", np.ones((2, 6), np.float32)), np.save("to.npy", np.array([4, 3], np.int64))'
expect 0 '[4, 3]' run waits.json --in x=x.npy --in to=to.npy --dim seq=1..8
expect 0 'm is seq, which runs say, 16 at most: loops m/' explain bert-tiny --dim seq=1..16 --machine 'core:1 isa:avx2'
expect 0 '' emit bert-tiny --dim seq=1..16 --machine 'core:1 isa:avx2' -o parts
checked=$((checked + 1)) # what is left of a tile of 5 rows: all of it, half, or a quarter, rounded up
{ grep -qF -- '- 5 * m_1 > 3)' parts/k_*.c && grep -qF -- '- 5 * m_1 > 2)' parts/k_*.c; } || wrong "no quarter of a tile"
# 4 rows gain at 1, where all tiles wait for weights, what 8 gain at most other extents and at powers of two
expect 0 'n/48@core[+b@l2*2] m/8 k/4 k@unroll m@unroll n@vector' explain minilm --dim seq=1..512 --threads 2 \
    --machine 'l3:1(32MB) l2:2(1MB) l1d:2(32KB) core:2 isa:avx512' --op '*query*'
expect 6 'error: input "input_ids" holds 99999 at [0,3]; embeddings.word_embeddings.weight has rows 0 to ' \
    run bert-tiny --in input_ids=far.npy --random --dim seq=1..16

# a program of its own takes the extent, and the arrays that belong to it
expect 0 '' emit bert-tiny --dim seq=1..16 -o sources
checked=$((checked + 1))
(cd sources && make -j2 CFLAGS='-O1 -mavx2 -mfma -ffp-contract=off -Wall -Wextra -Werror' >/dev/null 2>made.txt &&
    for n in 5 9; do
        ./model -n $n ../ids$n.npy ../ones$n.npy ../zeros$n.npy || exit 1
        mv output0.npy out$n.npy
    done) || wrong "the emitted program" "$(cat sources/made.txt)"
checked=$((checked + 1))
python3 - <<'PY' || wrong "the emitted program gives others"
import json
import numpy as np
five, nine, alone = (np.load(f) for f in ("sources/out5.npy", "sources/out9.npy", "alone/last_hidden_state.npy"))
assert five.shape == (1, 5, 128) and nine.shape == alone.shape and np.abs(nine - alone).max() < 2e-5
ports = json.load(open("sources/ports.json"))
assert ports["sizes"] == [{"name": "seq", "least": 1, "most": 16}]
assert ports["inputs"][0]["follows"] == [None, "seq"] and ports["outputs"][1]["follows"] == [None, None]
PY
checked=$((checked + 1))
(cd sources && ./model -n 17 2>said.txt; grep -qF '17: is not a list of sizes within their ranges' said.txt &&
    ! ./model -n 8 ../ids9.npy ../ones9.npy ../zeros9.npy 2>said.txt &&
    grep -qF "../ids9.npy: does not hold {'descr': '<i8', 'fortran_order': False, 'shape': (1, 8), }" said.txt) ||
    wrong "what the emitted program refuses" "$(cat sources/said.txt)"

# extents that are sums: a cache of any length, in one program, emitted too
cat >cache.json <<'TEXT'
{ "format": "graph/1", "opset": { "": 17 },
  "inputs": [ { "name": "kept", "dtype": "f32", "shape": ["past", 3] }, { "name": "x", "dtype": "f32", "shape": [1, 3] },
    { "name": "scale", "dtype": "f32", "shape": ["total", 1] } ],
  "outputs": [ { "name": "y" } ],
  "nodes": [ { "op": "Concat", "in": ["kept", "x"], "out": ["all"], "attr": { "axis": 0 } },
    { "op": "Mul", "in": ["all", "scale"], "out": ["y"] } ] }
TEXT
python3 - <<'PY'
import numpy as np
for n in (5, 6, 1):
    np.save(f"kept{n}.npy", np.arange(3 * n, dtype=np.float32).reshape(n, 3))
    np.save(f"scale{n}.npy", np.full((n, 1), 2, np.float32))
np.save("scale5.npy", np.ones((5, 1), np.float32))
PY
tie="--dim past=..8 --dim total=past+1"
# shellcheck disable=SC2086
expect 0 '[6, 3]' run cache.json --in kept=kept5.npy --random --in scale=scale6.npy $tie
# shellcheck disable=SC2086
expect 3 'dimension "total" is 5 by the value of input "scale" and 6 by --dim total=past+1' \
    run cache.json --in kept=kept5.npy --random --in scale=scale5.npy $tie
# shellcheck disable=SC2086
expect 0 'is past + 1, which runs say, 9 at most' explain cache.json $tie --isa avx2 --threads 1
# shellcheck disable=SC2086
expect 0 '' emit cache.json $tie -o cache
checked=$((checked + 1))
(cd cache && make -j2 CFLAGS='-O1 -mavx2 -mfma -ffp-contract=off -Wall -Wextra -Werror' >/dev/null 2>made.txt &&
    ./model -n 5 ../kept5.npy ../kept1.npy ../scale6.npy) || wrong "the emitted cache" "$(cat cache/made.txt)"
checked=$((checked + 1))
python3 - <<'PY' || wrong "the emitted cache gives others"
import json
import numpy as np
y = np.load("cache/output0.npy")
assert np.array_equal(y, 2 * np.concatenate([np.load("kept5.npy"), np.load("kept1.npy")]))
ports = json.load(open("cache/ports.json"))
assert ports["inputs"][2]["follows"] == ["past + 1", None] and ports["outputs"][0]["follows"] == ["past + 1", None]
PY

expect 4 'target interp makes no programs of which runs say the extent of "seq"' \
    run bert-tiny --random --dim seq=1..16 --target interp
expect 4 'give it one extent: --dim seq=N' run bert-tiny --random --dim seq=1..16 --target interp
echo '{"format": "tiling/1", "rules": [{"match": {"op": "softmax"}, "place": "interp"}]}' >"$dir/placed.json"
expect 4 'a plan over several devices (c, interp) makes no programs of which runs say the extent of "seq"' \
    run bert-tiny --random --dim seq=1..16 -s "$dir/placed.json"
expect 2 'no --dim gives one' bench bert-tiny --dim seq=16 --at seq=5
expect 2 'bench: --report belongs to a race with a verdict, and --at gives ratios' \
    bench bert-tiny --dim seq=1..16 --at seq=5 --report race.html
expect 2 'bench: --kernels says of --at which kernels cost more, and none is given' bench bert-tiny --dim seq=16 --kernels
expect 2 'bench: --at times one schema, and there are 2' \
    bench bert-tiny --dim seq=1..16 --at seq=5 -s panels -s rows
expect 8 "nosuch" bench bert-tiny --dim seq=1..16 --at seq=5 -s ./nosuch.json
expect 4 '--dim seq=1..2: a range ends at 3 or more' run bert-tiny --random --dim seq=1..2
expect 3 'dimension "seq" is 17 by --dim seq=17, outside of --dim seq=1..16' bench bert-tiny --dim seq=1..16 --at seq=17

# what a mask leaves nothing of is not walked, nor are rows that a run does not have asked
expect 0 ' % of n are walked: the mask leaves nothing beyond' explain gpt2-tiny --dim seq=1..128 --isa avx2 --threads 1
checked=$((checked + 1))
"$TESSERA" bench gpt2-tiny --dim seq=1..128 --at seq=1,33,128 --min-time 10ms --threads 1 --json >race.json &&
    python3 -c 'import json
assert all(r["apart"] < 2e-5 for r in json.load(open("race.json"))["at"])' ||
    wrong "masks of all extents" "$(head -c 600 race.json)"
checked=$((checked + 1))
"$TESSERA" bench bert-tiny --dim seq=1..16 --at seq=5,9 --min-time 10ms --threads 1 --kernels --json >race.json &&
    python3 - <<'PY' || wrong "bench --at" "$(head -c 600 race.json)"
import json
rows = json.load(open("race.json"))["at"]
assert [r["extent"] for r in rows] == [5, 9]
kernels = rows[0]["kernels"]
assert len(kernels) > 10 and all(k["alone_seconds"] > 0 and k["varying_seconds"] > 0 for k in kernels)
assert {"matmul", "attention"} <= {k["op"] for k in kernels}
assert all(r["rounds"] >= 5 and r["ratio"] > 0 and r["apart"] < 2e-5 for r in rows)
PY
checked=$((checked + 1)) # people are shown times of kernels, too
"$TESSERA" bench bert-tiny --dim seq=1..16 --at seq=5 --min-time 10ms --threads 1 --kernels >race.txt &&
    grep -qx 'kernels at 5' race.txt && grep -q '^attention .*[0-9]$' race.txt ||
    wrong "bench --at --kernels" "$(cat race.txt)"
finish
