#!/bin/sh
# trace_values_test.sh - run --trace-values and trace-diff: a fault planted inside a model is named, before all that it spoils; what
# rounds otherwise differs by bits, and not with a tolerance; files that are none are refused by their place.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
model() { # SCALE: y = exp(tanh(2 x) * SCALE + x), z = tanh(2 x)
    cat <<END
{ "format": "graph/1", "opset": { "": 17 }, "inputs": [ { "name": "x", "dtype": "f32", "shape": [2, 3] } ],
  "outputs": [ { "name": "y" }, { "name": "z" } ],
  "constants": { "two": { "dtype": "f32", "shape": [1], "data": [2] }, "scale": { "dtype": "f32", "shape": [1], "data": [$1] } },
  "nodes": [ { "op": "Mul", "in": ["x", "two"], "out": ["twice"] }, { "op": "Tanh", "in": ["twice"], "out": ["z"] },
             { "op": "Mul", "in": ["z", "scale"], "out": ["scaled"] }, { "op": "Add", "in": ["scaled", "x"], "out": ["sum"] },
             { "op": "Exp", "in": ["sum"], "out": ["y"] } ] }
END
}
model 1.5 >m.json
model 1.75 >wrong.json
model 3e38 >infinite.json
"${PYTHON:-python3}" -c 'import numpy as np
np.save("x.npy", np.array([[1, -2, 0.5], [0, 3, -0.25]], np.float32)), np.save("nan.npy", np.full((2, 3), np.nan, np.float32))' || exit 77
"$TESSERA" run m.json --in x=nan.npy --threads 1 --trace-values nan.values -q >/dev/null 2>&1 || wrong "run --trace-values on NaN"
for name in m wrong infinite; do
    "$TESSERA" run $name.json --in x=x.npy --threads 1 --trace-values $name.values -q >$name.out 2>/dev/null || wrong "run --trace-values"
done
later "what is written, by numpy" '
import json, hashlib, numpy as np
x = np.load("x.npy")
t = {v["name"]: v for v in json.load(open("m.values"))["values"]}
assert set(t) == {"twice", "z", "scaled", "sum", "y"}, t
twice = 2 * x
v = t["twice"]
assert v["shape"] == [2, 3] and v["dtype"] == "f32" and v["nan"] == v["infinite"] == 0
assert (v["min"], v["max"], v["mean"]) == (-4, 6, float(twice.mean(dtype=np.float64)))
assert v["checksum"] == hashlib.sha256(twice.tobytes()).hexdigest()[:16]
assert sorted(v["place"] for v in t.values()) == list(range(5)), t
assert t["twice"]["place"] < t["scaled"]["place"] < t["sum"]["place"] < t["y"]["place"]
bad = {v["name"]: v for v in json.load(open("infinite.values"))["values"]}
assert bad["y"]["infinite"] == 3 and bad["y"]["nan"] == 0 and bad["y"]["max"] == 1, bad["y"]
nan = {v["name"]: v for v in json.load(open("nan.values"))["values"]}
assert nan["twice"]["nan"] == 6 and nan["twice"]["min"] is None, nan["twice"]
lines = open("m.out").read()
assert "twice" not in lines and "y " in lines, lines # only what was asked for is printed'
expect 0 'none of 5 values differs' trace-diff m.values m.values
differs() { # FIRST WHAT A B ARGUMENT...
    checked=$((checked + 1))
    want="first that differs, by its $2: $1"
    shift 2
    "$TESSERA" trace-diff "$@" >got 2>err
    [ $? = 1 ] || wrong "trace-diff $* does not end with 1" "$(cat got err)"
    grep -qxF -- "$want" got || wrong "trace-diff $*: no \"$want\"" "$(cat got)"
}
differs scaled min m.values wrong.values
differs scaled min m.values wrong.values --tolerance 1e-3
grep -q '3 of 5 values differ' got || wrong "not all that is spoilt is counted" "$(cat got)"
sed 's/"max":\t6/"max":\t6.00001/; s/"checksum":\t"\(.\)[^"]*/"checksum":\t"\100000000000000f/' m.values >near.values
differs twice max m.values near.values
expect 0 'none of 5 values differs' trace-diff m.values near.values --tolerance 1e-4
sed 's/"name":\t"twice"/"name":\t"double"/' m.values >renamed.values
expect 0 '4 values differs; 1 only in m.values; 1 only in renamed.values' trace-diff m.values renamed.values
echo '{ "format": "values/1", "values": [ 3 ] }' >bad.values
expect 3 'the second file: value 0 is none of values/1' trace-diff m.values bad.values
echo '{ "format": "values/1", "values": [] }' >none.values
expect 3 'the files have no value of one name' trace-diff m.values none.values
expect 3 'm.json: "format" is not "values/1"' trace-diff m.values m.json
expect 8 'gone' trace-diff m.values gone
expect 2 '--tolerance "2"' trace-diff m.values m.values --tolerance 2
finish
