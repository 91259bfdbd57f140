# emitted.sh - what tests of programs that run on a device share; sourced, in a folder of their own, where `build FOLDER`
# builds one. Each gives the bits of a run here.
# shellcheck shell=sh disable=SC2086

# products_agree TARGET: extents that no step divides
products_agree() {
    products='--dim m=37 --dim k=70 --dim n=50 --dim layers=2'
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
