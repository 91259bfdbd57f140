#!/bin/sh
# neon_test.sh - programs for AArch64, emitted here, made by the cross compiler and run by an emulator: they compute what
# the interpreter does, by vectors that multiply and add at once.
# ctest: large
# shellcheck disable=SC2086
set -eu
unset COMPILER_PATH # where a linker of this machine lies
cross=aarch64-linux-gnu-gcc
for tool in $cross qemu-aarch64; do
    command -v $tool >/dev/null || { echo "skipped: no $tool (Debian: gcc-aarch64-linux-gnu, qemu-user)"; exit 77; }
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

# agrees FOLDER MODEL ARGUMENT...: with numbers that the interpreter is given, too
agrees() {
    model=$1
    shift
    "$TESSERA" emit "$@" --machine "core:2 l3:1(8MB) isa:neon" --threads 2 -q -o "$model"
    ! grep -q -e ' -m' "$model/Makefile" || { echo "$model: flags of another processor"; exit 1; }
    make -s -j2 -C "$model" CC="$cross -static" CPPFLAGS="-Wall -Wextra -Werror"
    python3 - "$model" <<'PY'
import json, sys, numpy as np
rng, folder = np.random.default_rng(5), sys.argv[1]
types = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64}
given = []
for p in json.load(open(f"{folder}/ports.json"))["inputs"]:
    v = rng.uniform(-1, 1, p["shape"]) if p["dtype"][0] == "f" else rng.integers(0, 2, p["shape"])
    np.save(f"{folder}/{p['name']}.npy", v.astype(types[p["dtype"]]))
    given.append(p["name"])
open(f"{folder}/given", "w").write(" ".join(given))
PY
    given= files=
    for name in $(cat "$model/given"); do
        given="$given --in $name=$model/$name.npy" files="$files $name.npy"
    done
    "$TESSERA" run "$@" $given --target interp -q --out "$model/right" >/dev/null
    (cd "$model" && qemu-aarch64 ./model $files >/dev/null)
    python3 - "$model" <<'PY'
import json, sys, numpy as np
folder = sys.argv[1]
for i, p in enumerate(json.load(open(f"{folder}/ports.json"))["outputs"]):
    want, got = (np.load(f"{folder}/{f}.npy") for f in (f"right/{p['name']}", f"output{i}"))
    assert want.shape == got.shape and np.isfinite(want).all(), (folder, p["name"])
    np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-5 * max(1, abs(want).max()), err_msg=folder + p["name"])
PY
}

# shows MODEL PATTERN: its kernels have that instruction
shows() {
    aarch64-linux-gnu-objdump -d "$1"/k_*.o | grep -q "$2" || { echo "$1: no instruction is like $2"; exit 1; }
}

# equals MODEL ARGUMENT...: the emulated program has the bits that a plan for this processor has, of what agrees gave it
equals() {
    model=$1
    shift
    "$TESSERA" run "$@" $given --target c -q --out "$model/here" >/dev/null
    python3 - "$model" <<'PY'
import json, sys, numpy as np
folder = sys.argv[1]
for i, p in enumerate(json.load(open(f"{folder}/ports.json"))["outputs"]):
    here, there = (np.load(f"{folder}/{f}.npy") for f in (f"here/{p['name']}", f"output{i}"))
    assert np.array_equal(here, there), (folder, p["name"], abs(here - there).max())
PY
}

for model in bert-tiny gpt2-tiny resnet-tiny; do
    agrees $model $model --bits reproducible
    equals $model $model --bits reproducible
    shows $model 'fmla.*v[0-9]*\.4s'
done
agrees few products --dim m=37 --dim k=70 --dim n=50 --dim layers=2 # extents that no step divides

python3 - <<'PY'
import json
nodes, outputs = [], []
def row(op, *operands, **attr):
    nodes.append({"op": op, "in": list(operands), "out": [f"y{len(nodes)}"], "attr": attr})
    return nodes[-1]["out"][0]
ports = [{"name": n, "dtype": "f32", "shape": [6, 37]} for n in "ab"]
wide = row("Mul", "a", "hundred")
for op in "Floor Ceil Round Abs Sin Cos Tan Exp Tanh Erf Sigmoid".split():
    outputs.append(row(op, wide if op in "Floor Ceil Round" else "a"))
outputs += [row("Sqrt", row("Abs", wide)), row("Max", "a", "b"), row("Min", "a", "b"), row("Softmax", wide, axis=1)]
outputs += [row(op, wide, axes=[1]) for op in ("ReduceMax", "ReduceMean", "ReduceL2")]
outputs += [row("Cast", row("Cast", "a", to=to), to=1) for to in (10, 16, 11)]
outputs += [row("Where", row("Less", "a", "b"), "a", wide), row("MatMul", row("Transpose", "a"), "b")]
json.dump({"format": "graph/1", "opset": {"": 17}, "inputs": ports, "outputs": [{"name": n} for n in outputs],
           "constants": {"hundred": {"dtype": "f32", "shape": [], "data": [100.0]}}, "nodes": nodes},
          open("operations.json", "w"))
PY
agrees operations operations.json
for instruction in fcvtl 'fcvtn' 'fsqrt.*4s' 'frintm.*4s' 'frintp.*4s' 'frintx.*4s' 'bsl\|bit\|bif'; do
    shows operations "$instruction"
done
