#!/bin/sh
# Loops of what goes through images, as the guess writes them for one machine: vectors along what lies side by side, no
# place found again at each multiply-add. A model of each kind gives what the interpreter gives, as do windows in parts.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
"${PYTHON:-python3}" - <<'PY'
import json, struct

def save(name, shape, nodes, weights):  # small whole numbers as weights
    header, data = {}, b""
    for n, dims in weights.items():
        count = 1
        for d in dims:
            count *= d
        header[n] = {"dtype": "F32", "shape": dims, "data_offsets": [len(data), len(data) + 4 * count]}
        data += struct.pack(f"<{count}f", *((7 * i + 3) % 11 - 5 for i in range(count)))
    text = json.dumps(header).encode()
    open(name + ".safetensors", "wb").write(struct.pack("<Q", len(text)) + text + data)
    constants = {"s": {"dtype": "f32", "shape": [4], "data": [1, 1, 2, 2]},
                 "p": {"dtype": "i64", "shape": [8], "data": [0, 0, 2, 2] * 2},
                 "q": {"dtype": "i64", "shape": [6], "data": [0, 0, 9] * 2}}
    used = {i for n in nodes for i in n["in"]}
    stored = {"weights": {"file": name + ".safetensors"}} if weights else {}
    json.dump({"format": "graph/1", "opset": {"": 19}, **stored, "inputs": [{"name": "x", "dtype": "f32", "shape": shape}],
               "nodes": nodes, "outputs": [{"name": nodes[-1]["out"][0]}],
               "constants": {n: c for n, c in constants.items() if n in used}}, open(name + ".json", "w"))

def node(op, given, out, **attr):
    return {"op": op, "in": given.split(), "out": [out], **({"attr": attr} if attr else {})}

def between(name, middle, **weights):  # 1 x 1 convolutions around it keep images in blocks
    nodes = [node("Conv", "x a", "b"), *middle, node("Conv", "m c", "y")]
    save(name, [1, 32, 14, 14], nodes, {"a": [32, 32, 1, 1], "c": [32, 32, 1, 1], **weights})

squeeze = [node("GlobalAveragePool", "d", "g"), node("Mul", "d g", "m")]  # a mean of each channel shares no loops with it
between("depthwise", [node("Conv", "b w", "d", group=32, pads=[1] * 4), *squeeze], w=[32, 1, 3, 3])
between("wide", [node("Conv", "b w", "m", group=32, pads=[2] * 4, strides=[2, 2])], w=[32, 1, 5, 5])
between("turned", [node("ConvTranspose", "b w", "m", strides=[2, 2])], w=[32, 32, 2, 2])
stretch = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
between("nearest", [{**node("Resize", "b", "m", **stretch), "in": ["b", "", "s"]}])
save("few", [1, 8, 14, 14], [node("Conv", "x a", "b"), node("Conv", "b w", "m"), node("Conv", "m c", "y")],
     {"a": [24, 8, 1, 1], "w": [24, 24, 3, 3], "c": [8, 24, 1, 1]})
joined = [node("Conv", "x a", "b"), {**node("Resize", "b", "u", **stretch), "in": ["b", "", "s"]},
          node("ConvTranspose", "b w", "v", strides=[2, 2]), node("Concat", "u v", "m", axis=1), node("Conv", "m c", "y")]
save("joined", [1, 32, 14, 14], joined, {"a": [32, 32, 1, 1], "w": [32, 32, 2, 2], "c": [32, 64, 3, 3]})
save("side", [1, 8, 14, 14], [node("Conv", "x a", "b"), node("Conv", "x w", "v"), node("Concat", "b v", "m", axis=1), node("Conv", "m c", "y")],
     {"a": [24, 8, 1, 1], "w": [24, 8, 1, 1], "c": [24, 48, 3, 3]})
save("rows", [1, 32, 14, 28], [node("Conv", "x w", "y", group=32, pads=[1] * 4)], {"w": [32, 1, 3, 3]})
save("reach", [1, 8, 200], [node("Conv", "x w", "b", pads=[15, 15]), node("Conv", "b c", "y")], {"w": [8, 8, 31], "c": [8, 8, 1]})
save("line", [1, 4, 100], [node("Conv", "x v", "b"), node("Conv", "b w", "m", group=32, pads=[2, 2]), node("Conv", "m c", "y")],
     {"v": [32, 4, 1], "w": [32, 1, 5], "c": [32, 32, 1]})
for mode in "reflect", "edge", "wrap":
    save(mode, [1, 8, 14, 14], [node("Pad", "x p", "b", mode=mode), node("Conv", "b w", "y", strides=[2, 2])], {"w": [16, 8, 5, 5]})
    save(mode + "1", [1, 1, 60], [node("Pad", "x q", "b", mode=mode), node("Conv", "b w", "y", strides=[3])], {"w": [36, 1, 19]})
for name, attr in {"plain": {}, "padded": {"pads": [1, 2, 0, 1], "strides": [2, 1]}, "apart": {"dilations": [2, 3]}}.items():
    save("parts_" + name, [1, 3, 9, 11], [node("Conv", "x w", "y", **attr)], {"w": [4, 3, 3, 3]})
save("parts_pool", [1, 3, 9, 11], [node("MaxPool", "x", "y", kernel_shape=[3, 3], pads=[1, 1, 1, 1])], {})
for axis in "kh", "kw":
    loops = f"{axis}/2@core n ic c oc oh ow kh kw"
    json.dump({"format": "tiling/1", "rules": [{"match": {"op": ["conv2d"]}, "loops": loops.replace(" c ", " ")},
               {"match": {"op": ["max_pool"]}, "loops": loops.replace("ic ", "").replace(" oc", "")}]}, open(axis, "w"))
PY
machine="core:1 l1d:1(48KB) l2:1(2MB) l3:1(32MB) isa:avx2"
walks() { # MODEL KERNEL LOOPS
    checked=$((checked + 1))
    "$TESSERA" explain "$1.json" --machine "$machine" --json >said 2>&1 || wrong "$1 is refused: $(cat said)"
    got=$("${PYTHON:-python3}" -c '
import json, sys
print(json.load(open("said"))["kernels"][int(sys.argv[1])]["loops"])' "$2")
    [ "$got" = "$3" ] || wrong "$1, kernel $2: $got, expected $3"
}
walks depthwise 1 'oc/8 oh ow/7 ic kh kw/3 kw@unroll ow@unroll oc@vector'
walks wide 1 'oc/8 oh ic kh kw/5 kw@unroll ow@unroll oc@vector'
walks line 1 'oc/8 ow/8 ic kw/5 kw@unroll ow@unroll oc@vector'
walks rows 0 'oc oh ic kh kw ow/8@unroll ow@vector'
walks nearest 1 'oc/16 oh ow/6 kh kw ic/8 ic/4 ic@unroll ow@unroll oc/8@unroll oc@vector'
walks joined 6 'r c r1/32@unroll r1@vector'
walks turned 1 'oc/16 ow/6 kh kw ic/8 ic/4 ic@unroll ow@unroll oc/8@unroll oc@vector'
for mode in reflect edge wrap; do
    walks $mode 0 'r1 r c@vector'
    walks ${mode}1 0 'e@vector'
done
# Where vectors of half the lanes are computed with twice as fast, channels lie in blocks of these if less is empty.
rates="clock=3000,fma=RATE,latency=4,l1=12800,l2=6400,l3=2200,memory=1200,near=2200,far=2200,seen=25,start=1000"
for rate in 100 200; do
    machine="core:1 l1d:1(48KB) l2:1(2MB) l3:1(32MB) isa:avx512 rates:avx512($(echo $rates | sed "s/RATE/$rate/"))"
    [ $rate = 100 ] && lane=8 row='ow/4 ' piece='r/8@unroll ' || lane=16 row= piece=
    walks side 2 "c r/24@unroll ${piece}r@vector"
    walks few 1 "oh ${row}kh kw ic/$lane ic ow@unroll oc/$lane@unroll oc@vector"
done
machine="core:1 l1d:1(48KB) l2:1(2MB) l3:1(32MB) isa:avx2"
"$TESSERA" explain turned.json --machine "$machine" | grep -q 'f32\[32,32,1,1\]  *oc/16 ic oc' || wrong "a phase's weights are not laid out"
checked=$((checked + 1))
# A window that reaches beyond the next tile: all tiles at a border know it, and those between test nothing.
checked=$((checked + 1))
"$TESSERA" emit reach.json --machine "$machine" --threads 1 -o reach -q || wrong "reach is refused"
grep -c '[?] x0' reach/k_*.c | grep -v ':0$' >tested
[ ! -s tested ] || wrong "tiles of a long window test what is padding: $(cat tested)"
same() { # MODEL SCHEMA
    checked=$((checked + 1))
    for target in c interp; do
        "$TESSERA" run "$1.json" --seed 1 --threads 2 --target $target ${2:+-s "./$2"} --out "$1$2-$target" -q >/dev/null 2>said ||
            wrong "$1 $2 does not run: $(cat said)"
    done
    later "$1 $2: c and the interpreter differ" "
import numpy
a, b = (numpy.load('$1$2-' + t + '/y.npy') for t in ('c', 'interp'))
numpy.testing.assert_allclose(a, b, rtol=0, atol=1e-5 * abs(b).max())"
}
for model in few joined side reach depthwise wide turned nearest rows line reflect edge wrap reflect1 edge1 wrap1; do same $model ''; done
for model in parts_plain parts_padded parts_apart parts_pool; do
    same $model kh
    same $model kw
done
finish
