#!/bin/sh
# kinds_test.sh - --bits reproducible: training has the same losses, norms and weights on the processor, by OpenCL, on a card, and
# in shards over any mixture of them; without it a mixture is told to have bits of its own. A function whose text is another
# language's own is refused by name, and numbers too small to be normal are 0 wherever they are computed. On the stand-in for
# the driver, and on OpenCL where there is a device.
# ctest: drivers large timeout=1800 Og
. "$SOURCE/tests/cli/expect.sh"
. "$SOURCE/tests/backends/cuda/stand_in.sh"
cd "$dir" || exit 1
yes 'to be or not to be, that is the question.' | head -20 >text.txt
"${PYTHON:-python3}" - <<'PY' || exit 77
import json, numpy as np
rng = np.random.default_rng(2)
y = rng.integers(0, 10, 10)
np.save("x.npy", (rng.normal(0, 1, (10, 3, 16, 16)) + y[:, None, None, None] / 5).astype(np.float32)), np.save("y.npy", y)
np.save("a.npy", np.array([1e-30, 1e-20, 1e-38, 1e-39, 3, -1e-25], np.float32))
np.save("b.npy", np.array([1e-10, 1e-22, 0.5, 1e5, 2, 1e-15], np.float32))
one = lambda name: {"name": name, "dtype": "f32", "shape": [6]}
for op, n in (("Mul", 2), ("Sin", 1)):
    json.dump({"format": "graph/1", "name": op, "opset": {"": 17}, "inputs": [one(i) for i in "ab"[:n]], "outputs": [{"name": "y"}],
               "nodes": [{"op": op, "in": list("ab"[:n]), "out": ["y"]}]}, open(op + ".json", "w"))
PY
words="gpt2-tiny --task lm --tokenizer bytes --data text.txt --length 16 --lr 5e-3 --eps 1e-3"
images="resnet-tiny --data x=x.npy --data label=y.npy --head none --lr 1e-2 --optimizer sgd --momentum 0.9"
devices='cuda c,cuda cuda,c' processors=c
"$TESSERA" run bert-tiny --dim seq=4 --seed 1 --target opencl:0 -q >/dev/null 2>&1 && devices="opencl $devices c,opencl opencl,cuda" processors='c opencl'

for model in words images; do
    eval "of=\$$model"
    for on in c $devices; do
        # shellcheck disable=SC2086
        "$TESSERA" train $of --batch 8 --shards 8 --steps 2 --bits reproducible --target "$on" -q -o "$model.$on" || wrong "$model: $on does not train"
        sed 's/,"ms".*//' "$model.$on/metrics.jsonl" >"$model.$on.rows"
        cmp "$model.c.rows" "$model.$on.rows" || wrong "$model: other losses or norms on $on" "$(diff "$model.c.rows" "$model.$on.rows" | head -4)"
        for f in weights optimizer; do
            cmp "$model.c/checkpoints/step-00000002/$f.safetensors" "$model.$on/checkpoints/step-00000002/$f.safetensors" ||
                wrong "$model: other $f on $on"
            checked=$((checked + 1))
        done
    done
    [ -s "$model.c.rows" ] || wrong "$model: no losses"
done
# shellcheck disable=SC2086
expect 0 'devices of several kinds: the bits are those of none of them; --bits reproducible has the same on all' \
    train $words --batch 8 --shards 8 --steps 1 --target c,cuda -o apart

expect 4 'sin: sin of cuda has bits of its own' run Sin.json --seed 1 --target cuda --bits reproducible
for on in $processors cuda; do
    "$TESSERA" run Mul.json --in a=a.npy --in b=b.npy --target "$on" -q -o "small.$on" >/dev/null || wrong "$on does not multiply"
    cmp small.c/y.npy "small.$on/y.npy" || wrong "small numbers are others on $on"
    checked=$((checked + 1))
done
finish
