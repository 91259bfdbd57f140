#!/bin/sh
# run --against: the first value that differs from another run's, in the order in which values are computed, not of the list.
# The micrograd example stands for a model; another constant inside it for a fault.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
model() { # SCALE: g of a and b, and both gradients, by formulas of the graph
    cat <<END
{ "format": "graph/1", "opset": { "": 17 },
  "inputs": [ { "name": "a", "dtype": "f64", "shape": [1] }, { "name": "b", "dtype": "f64", "shape": [1] } ],
  "outputs": [ { "name": "g" } ],
  "constants": { "one": { "dtype": "f64", "shape": [1], "data": [1] }, "scale": { "dtype": "f64", "shape": [1], "data": [$1] } },
  "nodes": [ { "op": "Add", "in": ["a", "b"], "out": ["c0"] },
             { "op": "tessera.formula", "in": ["a", "b", "c0"], "out": ["d0"], "attr": { "text": "a * b + b*b*b" } },
             { "op": "tessera.formula", "in": ["c0", "a"], "out": ["c"], "attr": { "text": "2 * (2*a + 1) + 1 - b" } },
             { "op": "tessera.formula", "in": ["d0", "a", "b"], "out": ["d1"], "attr": { "text": "a + 2*a + max(b + c, 0)" } },
             { "op": "tessera.formula", "in": ["d1", "a", "b"], "out": ["d2"], "attr": { "text": "a + 3*a + max(c - b, 0)" } },
             { "op": "Mul", "in": ["d2", "scale"], "out": ["d"] },
             { "op": "tessera.formula", "in": ["c", "d"], "out": ["f"], "attr": { "text": "(a - b) * (a - b)" } },
             { "op": "tessera.formula", "in": ["f", "one"], "out": ["g"], "attr": { "text": "a / 2 + 10 * b / a" } } ] }
END
}
model 1 >m.json
model 1.5 >wrong.json
"${PYTHON:-python3}" -c 'import numpy as np
np.save("a.npy", np.array([-4.0])), np.save("b.npy", np.array([2.0]))' || exit 77
in="--in a=a.npy --in b=b.npy"
# shellcheck disable=SC2086
{
expect 0 'd2    f64    [1]          6        6        6' run m.json $in --all --target interp -o good
expect 0 '24.7041' run m.json $in
expect 0 'none of 8 values differs' run m.json $in --all --against good
expect 0 'none of 1 values differs' run m.json $in --against good
checked=$((checked + 3))
"$TESSERA" run wrong.json $in --all --against good >out 2>err
[ $? = 1 ] || wrong "a value differs: not exit code 1" "$(cat out err)"
grep -q '^first that differs: d at element 0: 9, and 6 in good$' out || wrong "d is not the first that differs" "$(cat out)"
"$TESSERA" run wrong.json $in --all --against good --json >out.json 2>err
[ $? = 1 ] || wrong "with --json: not exit code 1"
"${PYTHON:-python3}" -c 'import json
d = json.load(open("out.json"))
assert d["first"]["name"] == "d" and d["first"]["element"] == 0 and d["first"]["here"] == 1.5 * d["first"]["there"], d
assert [o["name"] for o in d["outputs"] if o["difference"] > 1e-4] == ["g", "d", "f"], d' || wrong "no such JSON"
expect 0 'none of 8 values differs' run wrong.json $in --all --against good --tolerance 1
expect 8 '--against nowhere: no such folder' run m.json $in --against nowhere
mkdir empty
expect 8 'empty has a file of none of these values' run m.json $in --against empty
cp a.npy short.npy && cp short.npy empty/g.npy && "${PYTHON:-python3}" -c 'import numpy as np
np.save("empty/g.npy", np.zeros(3))'
expect 3 'empty/g.npy is f64[3], f64[1] expected, as "g" here' run m.json $in --against empty
}
finish
