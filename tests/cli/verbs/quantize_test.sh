#!/bin/sh
# tessera quantize: of a model that is written here, both ways; what is refused, and that nothing is written then.
set -u
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
"$TESSERA" export gpt2-tiny -o m.onnx -q || exit 1

sums() { # FILE TARGET: least, largest and mean of each result
    "$TESSERA" run "$1" --seed 3 --target "$2" --json -q | tr ',' '\n' |
        sed -n 's/.*"\(min\|max\|mean\)":[[:space:]]*\([-0-9.e]*\).*/\1 \2/p'
}
sums m.onnx interp >m.sums
for bits in int8 int4; do
    "$TESSERA" quantize m.onnx -o $bits.onnx --weights $bits --json >$bits.json || wrong "quantize --weights $bits fails"
    for target in interp c; do
        sums $bits.onnx $target >$bits.$target
    done
done
later "results are as far from those of f32 as rounding makes them" '
import json, os
def sums(name):
    return [float(line.split()[1]) for line in open(name)]
whole = sums("m.sums")
assert len(whole) >= 3
for bits, least in (("int8", 2), ("int4", 2.5)):
    said = json.load(open(bits + ".json"))
    assert said["format"] == "quantize/1" and said["file"] == bits + ".onnx" and said["products"] > 5, said
    assert said["bytes_before"] == os.path.getsize("m.onnx") and said["bytes_after"] == os.path.getsize(bits + ".onnx")
    assert said["bytes_after"] < said["bytes_before"], said
    assert 0 < said["error"] < (0.02 if bits == "int8" else 0.15) and said["worst"], said
    off = 2 * said["error"] * said["products"] ** 0.5 * max(map(abs, whole))
    for target in ("interp", "c"):
        got = sums(f"{bits}.{target}")
        assert len(got) == len(whole) and all(abs(a - b) <= off for a, b in zip(got, whole)), (bits, got, whole, off)
        assert all(abs(a - b) <= 1e-4 * max(map(abs, whole)) for a, b in zip(got, sums(bits + ".interp"))), (bits, got)
    assert sums(bits + ".c") != whole, "nothing was rounded"'

# A product with the unit matrix is the weight: 40 rows are a block of 32 and a part of one.
"${PYTHON:-python3}" - <<'PY' || exit 77
import json, os, struct, numpy as np
rng, head, data = np.random.default_rng(0), {}, b""
for name, shape in (("w", [40, 24]), ("v", [24, 40]), ("b", [1])):
    numbers = (rng.standard_normal(shape).astype(np.float32) if name != "b" else np.float32([0.5])).tobytes()
    head[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(numbers)]}
    data += numbers
os.mkdir("one")
head = json.dumps(head).encode()
open("one/weights.safetensors", "wb").write(struct.pack("<Q", len(head)) + head + data)
json.dump({"format": "graph/1", "opset": {"": 17}, "weights": {"file": "weights.safetensors"},
           "inputs": [{"name": "x", "dtype": "f32", "shape": [40, 40]}],
           "outputs": [{"name": "y", "dtype": "f32"}, {"name": "z", "dtype": "f32"}], "nodes": [
               {"op": "MatMul", "in": ["x", "w"], "out": ["y"]},
               {"op": "Gemm", "in": ["x", "v", "b"], "out": ["z"], "attr": {"transB": 1}}]}, open("one/graph.json", "w"))
np.save("x.npy", np.eye(40, dtype=np.float32))
PY
"$TESSERA" export one -o one.onnx -q || wrong "export fails"
for bits in f32 int8 int4; do
    case $bits in
    f32) cp one.onnx one-f32.onnx ;;
    *) "$TESSERA" quantize one.onnx -o one-$bits.onnx --weights $bits -q || wrong "one.onnx: $bits" ;;
    esac
    for target in interp c; do
        "$TESSERA" run one-$bits.onnx --in x=x.npy --target $target --out $bits-$target -q >said 2>&1 || wrong "$(cat said)"
    done
done
later "every element of a weight is at most half a step of its scale off, the largest of 4 bits one" '
import numpy as np
def weights(name):
    y, z = (np.load(f"{name}/{k}.npy").astype(np.float64) for k in "yz")
    return y, z - 0.5
for was in zip(*(weights(f"{bits}-{target}") for bits in ("f32", "int8", "int4") for target in ("interp", "c"))):
    w = was[0]
    assert abs(was[1] - w).max() < 1e-6 and abs(w).max() > 0.1
    for got in was[2:4]:
        step = abs(w).max(0) / 127
        assert (abs(got - w) <= 0.501 * step + 1e-6).all() and (got != w).any()
    for got in was[4:]:
        for rows in (slice(0, 32), slice(32, 40)):
            off, most = abs(got[rows] - w[rows]), abs(w[rows]).max(0)
            assert (off <= np.where(abs(w[rows]) > 0.9 * most, 1.01, 0.501) * most / 7 + 1e-6).all(), off / most'

expect 0 "products quantized, 0 kept" quantize m.onnx -o again.onnx --weights int8
cmp -s again.onnx int8.onnx || wrong "a second time gives another file"
expect 4 "nothing to quantize: all products with constant weights" quantize m.onnx -o no.onnx --weights int8 --keep '*'
expect 4 "nothing to quantize: no MatMul or Gemm has a constant f32 matrix on its right" \
    quantize int8.onnx -o no.onnx --weights int4
expect 2 "-o FILE.onnx says where the model goes" quantize m.onnx --weights int8
expect 2 "--weights int8, --weights int4, or --int8 --calibrate DATA" quantize m.onnx -o no.onnx
expect 2 "int3" quantize m.onnx -o no.onnx --weights int3
expect 2 "blocks of 48 elements; a power of two from 16 to 256 expected" \
    quantize m.onnx -o no.onnx --weights int4 --block 48
expect 2 "hint: 32 is usual" quantize m.onnx -o no.onnx --weights int4 --block 24
expect 2 "8" quantize m.onnx -o no.onnx --weights int4 --block 8
expect 2 "8-bit weights have a scale for each column" quantize m.onnx -o no.onnx --weights int8 --block 32
# Values too, by two samples: a folder of a folder with x.npy and a .safetensors file.
"${PYTHON:-python3}" - <<'PY' || exit 77
import json, os, struct, numpy as np
rng = np.random.default_rng(1)
first, second = (np.clip(rng.standard_normal((40, 40)), -4, 4).astype(np.float32) for _ in range(2))
first[3, 4], second[5, 6] = 7, -5
os.makedirs("samples/a")
np.save("samples/a/x.npy", first)
head = json.dumps({"x": {"dtype": "F32", "shape": [40, 40], "data_offsets": [0, second.nbytes]}}).encode()
open("samples/b.safetensors", "wb").write(struct.pack("<Q", len(head)) + head + second.tobytes())
second[5, 6] = np.nan
os.mkdir("strange"), os.mkdir("empty"), os.mkdir("other")
np.save("strange/x.npy", second), np.save("other/y.npy", second)
PY
"$TESSERA" quantize one.onnx -o one-static.onnx --int8 --calibrate samples --json >static.json || wrong "--int8 fails"
for target in interp c; do
    "$TESSERA" run one-static.onnx --in x=samples/a/x.npy --target $target --out static-$target -q >said 2>&1 || wrong "$(cat said)"
done
later "values are rounded to 255 steps from the least to the largest of all samples, weights to 127 each way" '
import json, numpy as np
said = json.load(open("static.json"))
assert (said["values"], said["samples"], said["products"]) == (1, 2, 2), said
x, step = np.load("samples/a/x.npy"), np.float32(12 / 255)
zero = np.rint(5 / step)
x = (np.clip(np.rint(x / step) + zero, 0, 255) - zero) * np.float64(step)
w = {k: np.load(f"f32-interp/{k}.npy").astype(np.float64) - (0.5 if k == "z" else 0) for k in "yz"}
for k in "yz":
    scale = abs(w[k]).max(0) / 127
    want = x @ (np.rint(w[k] / scale) * scale) + (0.5 if k == "z" else 0)
    for target in ("interp", "c"):
        got = np.load(f"static-{target}/{k}.npy")
        assert abs(got - want).max() <= 1e-5 * abs(want).max(), (k, target, abs(got - want).max())'
static() { # CODE TEXT OPTION...
    code=$1 text=$2
    shift 2
    expect "$code" "$text" quantize one.onnx -o no.onnx --int8 "$@"
}
static 2 "--int8 rounds values by their ranges over samples: --calibrate DATA"
static 2 "--int8 stores weights in 8 bits, too" --weights int8 --calibrate samples
static 2 "8-bit weights have a scale for each column" --block 32 --calibrate samples
static 6 'value "x" goes from nan to nan, or has a NaN: only finite values can be rounded' --calibrate strange
static 8 "--calibrate empty: no samples in there" --calibrate empty
static 8 "gone" --calibrate gone
static 3 "strange/x.npy" --calibrate strange/x.npy
static 3 "other/y.npy: W001 header" --calibrate other
static 4 "they match --keep" --calibrate samples --keep '*'
expect 2 "--int8 alone runs the model" quantize one.onnx -o no.onnx --weights int8 --calibrate samples
expect 8 "cannot write 'nowhere/no.onnx'" quantize m.onnx -o nowhere/no.onnx --weights int8
expect 8 "there is no file 'gone.onnx'" quantize gone.onnx -o no.onnx --weights int8
expect 8 "tessera export gpt2-tiny -o FILE.onnx writes one" quantize gpt2-tiny -o no.onnx --weights int8
echo '{"format": "graph/1"}' >graph.json
expect 3 "M001 not an ONNX model" quantize graph.json -o no.onnx --weights int8
head -c 5000 m.onnx >cut.onnx
expect 3 "M002 truncated" quantize cut.onnx -o no.onnx --weights int8
: >empty.onnx
expect 3 "M001 not an ONNX model: file is empty" quantize empty.onnx -o no.onnx --weights int8
[ ! -e no.onnx ] || wrong "a refused file was written"
finish
