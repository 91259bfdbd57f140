# oracle.sh - for tests to read in: check MODEL DIMENSION... holds what a built-in model computes, on the usual target, against oracle.py.
set -eu
PYTHON=${PYTHON:-python3}
"$PYTHON" -c 'import numpy' 2>/dev/null || { echo "skipped: no numpy"; exit 77; }
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT

# check MODEL DIMENSION...: random inputs, made here so that both see the same
check() {
    model=$1
    shift
    dims=
    for d in "$@"; do dims="$dims --dim $d"; done
    rm -rf "$here/in" "$here/out"
    mkdir "$here/in"
    "$TESSERA" show "$model" $dims --json >"$here/ports.json"
    "$PYTHON" - "$here" <<'PY'
import json, os, sys
import numpy as np

random = np.random.default_rng(5)
for port in json.load(open(os.path.join(sys.argv[1], "ports.json")))["inputs"]:
    shape = port["shape"]
    if port["dtype"] == "i64":
        x = random.integers(0, port["below"], shape)
    else:
        x = random.uniform(-1, 1, shape).astype(np.float32)
    np.save(os.path.join(sys.argv[1], "in", port["name"] + ".npy"), x)
PY
    "$TESSERA" show "$model" $dims --stage folded >"$here/graph"
    given=
    for f in "$here"/in/*.npy; do
        name=${f##*/}
        given="$given --in ${name%.npy}=$f"
    done
    "$TESSERA" run "$model" $dims $given --out "$here/out" >/dev/null
    "$PYTHON" "$SOURCE/tests/models/oracle.py" "$model" "$here/graph" "$here/in" "$here/out"
}
