#!/bin/sh
# ctest: large
# single_test.sh - a program as one file of C: it builds by `cc -std=c11 FILE -lm` without a warning and gives the bytes
# that the folder's program gives: a language model, a convolutional one, sizes that runs say, loops, two orders of
# elements, which have the routine in common.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

cat > inputs.py <<'PY'
import json, numpy as np
types = {"i64": np.int64, "f32": np.float32}
for i, p in enumerate(json.load(open("folder/ports.json"))["inputs"]):
    v = np.arange(int(np.prod(p["shape"], dtype=np.int64))).reshape(p["shape"]) % 2
    np.save(f"in{i}.npy", v.astype(types[p["dtype"]]))
    print(f"in{i}.npy")
PY
python3 - <<'PY'
import json
i64 = lambda v, *shape: {"dtype": "i64", "shape": list(shape), "data": [v]}
body = {"inputs": [{"name": "i", "dtype": "i64", "shape": []}, {"name": "go", "dtype": "bool", "shape": []},
                   {"name": "s", "dtype": "f32", "shape": [4, 30]}],
        "outputs": [{"name": "on"}, {"name": "t"}],
        "nodes": [{"op": "Identity", "in": ["go"], "out": ["on"]}, {"op": "Tanh", "in": ["s"], "out": ["a"]},
                  {"op": "Add", "in": ["a", "s"], "out": ["t"]}]}
model = {"format": "graph/1", "opset": {"": 17}, "inputs": [{"name": "x", "dtype": "f32", "shape": [4, 30]}],
         "outputs": [{"name": "v"}, {"name": "at"}, {"name": "end"}, {"name": "least"}],
         "constants": {"k": i64(7, 1), "trips": i64(20), "yes": {"dtype": "bool", "shape": [], "data": [True]}},
         "nodes": [{"op": "TopK", "in": ["x", "k"], "out": ["v", "at"]},
                   {"op": "TopK", "in": ["x", "k"], "out": ["least", ""], "attr": {"largest": 0}},
                   {"op": "Loop", "in": ["trips", "yes", "x"], "out": ["end"], "attr": {"body": body}}]}
json.dump(model, open("orders.json", "w"))
PY

agrees() { # MODEL [OPTION...]
    rm -rf folder output*
    "$TESSERA" emit "$@" -q -o folder
    "$TESSERA" emit "$@" -q --single one.c --weights "$weights"
    make -s -C folder
    cc -std=c11 -Wall -Wextra -Werror one.c -lm -o one
    files=$(python3 inputs.py)
    ./one $files
    (cd folder && ./model $(printf '../%s ' $files))
    for f in output*.npy; do cmp "$f" "folder/$f"; done
}

weights=inside
agrees gpt2-tiny --threads 2
agrees orders.json
[ ! -e one.bin ]
weights=beside
agrees resnet-tiny
agrees bert-tiny --dim seq=1..64
[ -s one.bin ]

refused() { # SENTENCE ARGUMENT...
    sentence=$1
    shift
    ! "$TESSERA" emit "$@" 2> said
    grep -qF -- "$sentence" said || { cat said; exit 1; }
}
refused 'emit --single: --out writes something else' gpt2-tiny --single two.c -o two
refused 'emit: --weights is of --single FILE.c' gpt2-tiny -o two --weights beside
[ ! -e two.c ] && [ ! -e two ]
! "$TESSERA" emit gpt2-tiny --target opencl --single two.c 2> said || exit 1
grep -qE 'does not go into one file of C|not .*here|no .*device' said
