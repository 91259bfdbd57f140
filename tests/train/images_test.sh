#!/bin/sh
# Files of MNIST and FashionMNIST (idx) and of CIFAR-10 and -100 train as the same pictures in .npy do, to the bit; what is cut
# off, compressed or something else is refused with what to do.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
"${PYTHON:-python3}" - <<'PY' || { echo "skipped: no numpy"; exit 77; }
import gzip, json
import numpy as np
rng = np.random.default_rng(1)
def net(name, channels, side, classes):
    nodes = [{"name": "w", "op": "tessera.parameter", "in": [], "out": ["w"],
              "attr": {"shape": [channels * side * side, classes], "seed": 1, "scale": 0.05}},
             {"op": "Flatten", "in": ["x"], "out": ["f"]}, {"op": "MatMul", "in": ["f", "w"], "out": ["logits"]}]
    json.dump({"format": "graph/1", "name": name, "opset": {"": 17}, "nodes": nodes, "outputs": [{"name": "logits"}],
               "inputs": [{"name": "x", "dtype": "f32", "shape": ["batch", channels, side, side]}]}, open(f"{name}.json", "w"))
def idx(path, a):
    head = bytes([0, 0, 8, a.ndim]) + b"".join(n.to_bytes(4, "big") for n in a.shape)
    open(path, "wb").write(head + a.tobytes())
    return head + a.tobytes()
digits, which = rng.integers(0, 256, (12, 28, 28)).astype(np.uint8), (np.arange(12) % 10).astype(np.uint8)
whole = idx("train-images-idx3-ubyte", digits)
idx("train-labels-idx1-ubyte", which)
open("cut-ubyte", "wb").write(whole[:-1]), open("packed-ubyte", "wb").write(gzip.compress(whole))
open("large-ubyte", "wb").write(bytes([0, 0, 8, 3]) + b"\xff" * 12), open("bad.bin", "wb").write(bytes(100)), open("short-ubyte", "wb").write(bytes([0, 0, 8, 3, 0]))
np.save("mnist_x.npy", (digits / np.float32(255)).astype(np.float32)[:, None]), np.save("mnist_y.npy", which.astype(np.int64))
net("mnist", 1, 28, 10)
for name, before, classes in ("cifar", 1, 10), ("cifar100", 2, 100):
    pictures = rng.integers(0, 256, (5, 3, 32, 32)).astype(np.uint8)
    labels = rng.integers(0, 10, (5, before)).astype(np.uint8)
    labels[:, -1] = np.arange(5) * (classes // 5) + classes // 5 - 1
    open(f"{name}.bin", "wb").write(b"".join(l.tobytes() + p.tobytes() for l, p in zip(labels, pictures)))
    np.save(f"{name}_x.npy", (pictures / np.float32(255)).astype(np.float32))
    np.save(f"{name}_y.npy", labels[:, -1].astype(np.int64))
    net(name, 3, 32, classes)
PY
same() { # NAME X Y: trained on these files as on the arrays
    for by in files arrays; do
        [ $by = files ] || set -- "$1" "$1_x.npy" "$1_y.npy"
        rm -rf run
        "$TESSERA" train "$1.json" --data "x=$2" --data "label=$3" --head none --batch 4 --steps 3 -q -o run ||
            wrong "$1: no training on $2"
        sed 's/"ms":.*//' run/metrics.jsonl >$by.rows
        checked=$((checked + 1))
    done
    [ -s files.rows ] && cmp files.rows arrays.rows || wrong "$1: other losses than on arrays"
}
same mnist train-images-idx3-ubyte train-labels-idx1-ubyte
same cifar cifar.bin cifar.bin
same cifar100 cifar100.bin cifar100.bin
refuses() { # FILE WORDS
    expect 3 "$2" train mnist.json --data "x=$1" --data label=train-labels-idx1-ubyte --head none -o none
}
refuses cut-ubyte "'cut-ubyte' has 9423 bytes, which are not those of the extents that its first bytes say"
refuses large-ubyte "it is cut off or damaged: fetch it again"
refuses short-ubyte "'short-ubyte' has 5 bytes, which"
refuses packed-ubyte 'it is compressed: gunzip it'
refuses bad.bin "'bad.bin' is neither an idx file of bytes nor whole records of CIFAR"
finish
