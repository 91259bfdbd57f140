#!/bin/sh
# alike_test.sh - one thing measured against itself, really: races of two names of one schema, and pairs of result files, on
# the machine as it is and with programs beside it that only burn time. About one verdict in a hundred may call them different:
# one in all is allowed.
# ctest: long serial timeout=3000
. "$SOURCE/tests/cli/expect.sh"
export TMPDIR="$dir"
pairs=${PAIRS:-20}
cd "$dir" || exit 1
cat >product.json <<'TEXT'
{ "format": "graph/1", "name": "product", "opset": { "": 17 },
  "inputs":  [ { "name": "x", "dtype": "f32", "shape": [64, 64] }, { "name": "w", "dtype": "f32", "shape": [64, 64] } ],
  "outputs": [ { "name": "y" } ], "nodes": [ { "name": "mm", "op": "MatMul", "in": ["x", "w"], "out": ["y"] } ] }
TEXT
echo '{ "format": "tiling/1", "rules": [ { "name": "all", "loops": "guess" } ] }' >one.json
cp one.json two.json

measure() { # SEED FILE: one race of two names of one schema
    "$TESSERA" bench product.json -s one.json -s two.json --threads 1 --launches 5 --min-time 100ms --seed "$1" -q -o "$2" \
        >/dev/null 2>err || wrong "bench" "$(cat err)"
}

trials() { # WHAT: pairs of runs; their races and their files
    i=0
    while [ $i -lt "$pairs" ]; do
        i=$((i + 1))
        measure $i a.json
        measure $i b.json
        "$TESSERA" compare a.json b.json --json >c.json 2>err || wrong "compare" "$(cat err)"
        python3 - "$1" a.json b.json c.json <<'PY' >>verdicts
import json, sys
for name in sys.argv[2:]:
    v = json.load(open(name))
    state = v["machine_state"]["state"] if "machine_state" in v else ""
    for c in v["comparisons"]:
        print(sys.argv[1], "race" if state else "files", c["verdict"], state)
PY
        checked=$((checked + 1))
    done
}

burners=
stop() {
    for pid in $burners; do kill "$pid" 2>/dev/null; done
}
trap 'stop; rm -rf "$dir"' EXIT
trials alone
for k in 1 2 3; do
    (while :; do :; done) &
    burners="$burners $!"
done
trials beside
stop
sort verdicts | uniq -c
different=$(grep -c 'FASTER\|SLOWER' verdicts)
[ "$different" -le 1 ] || wrong "one thing is called different from itself $different times of $(wc -l <verdicts)"
finish
