#!/bin/sh
# tessera check-grad: good gradients pass, a planted wrong one is found, with the input that it is of.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
model() { # DERIVATIVE
    cat <<END
{ "format": "graph/1", "opset": { "": 17 },
  "inputs": [ { "name": "x", "dtype": "f64", "shape": [5] }, { "name": "z", "dtype": "f64", "shape": [5] } ],
  "outputs": [ { "name": "y" } ],
  "scalars": [ { "name": "relu3(x)", "text": "x < 0 ? 0.0 : x < 1 ? x*x*x/3 : x - 2/3.0"$1 } ],
  "nodes": [ { "op": "tessera.formula", "in": ["x", "z"], "out": ["y"], "attr": { "text": "relu3(a) + sin(b) * a" } } ] }
END
}
model '' >right.json
model ', "derivative": "x < 0 ? 0.0 : x < 1 ? x*x : 1"' >given.json
model ', "derivative": "x < 0 ? 0.0 : x < 1 ? 2*x*x : 1"' >wrong.json
for good in right given; do
    $TESSERA check-grad $good.json --tolerance 1e-6 --json >out.json
    python3 -c 'import json, sys
d = json.load(open("out.json"))
assert d["format"] == "check-grad/1" and [i["name"] for i in d["inputs"]] == ["x", "z"], d
assert all(i["verdict"] == "good" and i["error"] < 1e-6 for i in d["inputs"]), d'
done
code=0
$TESSERA check-grad wrong.json >out.txt || code=$?
[ $code = 1 ] || { echo "a wrong derivative: exit $code, expected 1"; cat out.txt; exit 1; }
grep -q '^x.*wrong$' out.txt && grep -q '^z.*good$' out.txt || { cat out.txt; exit 1; }

# Of f32 too, values are computed in f64: a derivative that is wrong by one in a hundred is found.
for share in 1 1.01; do
    model ", \"derivative\": \"x < 0 ? 0.0 : x < 1 ? $share*x*x : $share\"" | sed 's/f64/f32/g' >small.json
    code=0
    $TESSERA check-grad small.json --json >out.json || code=$?
    want=$([ $share = 1 ] && echo 0 || echo 1)
    [ $code = $want ] || { echo "f32, derivative times $share: exit $code, expected $want"; cat out.json; exit 1; }
done
python3 -c 'import json
assert all(i["tolerance"] == 1e-3 for i in json.load(open("out.json"))["inputs"])'

# So are those of a loop's trips: 40 steps of an LSTM in f32 are a scan.
cat >lstm.json <<END
{ "format": "graph/1", "opset": { "": 17 },
  "inputs": [ { "name": "x", "dtype": "f32", "shape": [40, 1, 3] }, { "name": "w", "dtype": "f32", "shape": [1, 16, 3] },
    { "name": "r", "dtype": "f32", "shape": [1, 16, 4] } ],
  "outputs": [ { "name": "y" } ],
  "nodes": [ { "op": "LSTM", "in": ["x", "w", "r"], "out": ["y"], "attr": { "hidden_size": 4 } } ] }
END
$TESSERA check-grad lstm.json --tolerance 1e-5 >/dev/null

# A function of the file is an operation, too; further results are further outputs.
called() { # OUTPUTS INPUTS
    cat <<END
{ "format": "graph/1", "opset": { "": 17 },
  "inputs": [ { "name": "x", "dtype": "f64", "shape": [5] }, { "name": "z", "dtype": "f64", "shape": [5] } ],
  "outputs": [ { "name": "r" }, { "name": "p" } ],
  "scalars": [ { "name": "polar(x, y)", "text": "sqrt(x*x + y*y), atan2(y, x)" } ],
  "nodes": [ { "op": "tessera.polar", "in": [$2], "out": [$1] } ] }
END
}
called '"r", "p"' '"x", "z"' >called.json
$TESSERA check-grad called.json --tolerance 1e-6 >/dev/null
$TESSERA run called.json --seed 1 --out called -q >/dev/null
"${PYTHON:-python3}" -c 'import numpy as np, os
r, p = np.load("called/r.npy"), np.load("called/p.npy")
assert r.shape == p.shape == (5,) and (r >= 0).all() and (abs(p) <= np.pi).all() and (r != p).any(), (r, p)'
refused() { # MESSAGE OUTPUTS INPUTS
    called "$2" "$3" >bad.json
    code=0
    $TESSERA show bad.json 2>error.txt >out.txt || code=$?
    [ $code = 3 ] && grep -qxF "error: bad.json: M024 node[0] \"\" polar: $1" error.txt || { cat error.txt; exit 1; }
}
refused 'polar: 1 operands given, takes 2' '"r", "p"' '"x"'
refused 'its results are 2, and 3 are used' '"r", "p", "q"' '"x", "z"'

# Functions stay with a model that is written again; ONNX has no form for them.
$TESSERA import given.json -o again
grep -q '"scalars"' again/graph.json
$TESSERA check-grad again --tolerance 1e-6 >/dev/null
code=0
$TESSERA export given.json -o given.onnx 2>error.txt || code=$?
[ $code != 0 ] && grep -q 'ONNX has no form for scalar functions, as relu3(x)' error.txt || { cat error.txt; exit 1; }

# A function as C: compiles without a warning, and says what it is to say.
text='relu3(x) = x < 0 ? 0.0 : x < 1 ? x*x*x/3 : x - 2/3.0'
for what in value jvp vjp; do
    $TESSERA emit --fn "$text" --what $what -o $what.c
    ${CC:-cc} -std=c11 -Wall -Wextra -Werror -c $what.c -o $what.o
    $TESSERA emit right.json --fn relu3 --what $what -o of_model.c # those of a model's file are known by name
    cmp $what.c of_model.c
done
code=0
$TESSERA emit right.json --fn relu4 -o f.c 2>error.txt || code=$?
[ $code != 0 ] && grep -q 'there is no function and no operation "relu4"' error.txt || { cat error.txt; exit 1; }
grep -q '?' value.c
cat >main.c <<END
#include <stdio.h>
double relu3(double), relu3_jvp(double, double), relu3_vjp(double, double);
int main(void)
{
    printf("%.17g %.17g %.17g %.17g\n", relu3(0.5), relu3_vjp(0.5, 1), relu3(2), relu3_jvp(2, 3));
    return 0;
}
END
${CC:-cc} -std=c11 main.c value.o jvp.o vjp.o -lm -o main
[ "$(./main)" = "0.041666666666666664 0.25 1.3333333333333335 3" ] || { ./main; exit 1; }
# So does an operation of the table, with its attributes.
for text in gelu 'gelu approximate=tanh' where swiglu 'leaky_relu alpha=0.25' greater power; do
    for what in value jvp vjp; do
        $TESSERA emit --fn "$text" --what $what -o op.c
        ${CC:-cc} -std=c11 -Wall -Wextra -Werror -c op.c -o op_$what.o || { echo "$text, $what"; cat op.c; exit 1; }
    done
done
for what in value jvp vjp; do
    $TESSERA emit --fn 'power' --what $what -o op_$what.c
done
cat >main.c <<END
#include <stdio.h>
double power(double, double), power_jvp(double, double, double, double);
void power_vjp(double, double, double, double *);
int main(void)
{
    double out[2];
    power_vjp(3, 2, 1, out);
    printf("%g %g %g %.6g\n", power(3, 2), power_jvp(3, 2, 1, 0), out[0], out[1]);
    return 0;
}
END
${CC:-cc} -std=c11 main.c op_value.c op_jvp.c op_vjp.c -lm -o main
[ "$(./main)" = "9 6 6 9.88751" ] || { ./main; exit 1; }
for text in 'nope:there is no function and no operation "nope"' \
    'concat:operation concat takes any number of operands, expected 1 to 4' \
    'softmax:softmax: axis: axis -1 is out of range for rank 0'; do
    code=0
    $TESSERA emit --fn "${text%%:*}" -o f.c 2>error.txt || code=$?
    [ $code = 3 ] && grep -qF "error: ${text#*:}" error.txt || { cat error.txt; exit 1; }
done
code=0
$TESSERA emit --fn 'f(x) = f(x + 1)' --what jvp -o f.c 2>error.txt || code=$?
[ $code = 3 ] && grep -qxF 'error: the derivative of function f: its calls are 200 deep and do not end' error.txt ||
    { cat error.txt; exit 1; }
$TESSERA emit --fn 'polar(x, y) = let s = x*x + y*y; sqrt(s), atan2(y, x)' --what vjp -o polar.c
${CC:-cc} -std=c11 -Wall -Wextra -Werror -c polar.c
# Parameters that a form does not read, names that C, its library or the text itself has, loops that count.
for text in 'int(x) = x' 'lines(a, b) = a*3, 7, b' 'fours(a, b) = 4, 5' 't0(t1, t2) = let s = t1*t1; s*s + t2/s*s' \
    'f(sin, cos) = sin(cos)' 'hypot(d_x, x) = sqrt(d_x*d_x + x*x)' 'most(max) = max(max, 3)' \
    'halved(x) = let n = 0; while (x > 1, 30) x = x/2, n = n + 1; x, n'; do
    for what in value jvp vjp; do
        $TESSERA emit --fn "$text" --what $what -o each.c
        ${CC:-cc} -std=c11 -Wall -Wextra -Werror -Wshadow -c each.c || { echo "$text, $what"; cat each.c; exit 1; }
    done
done
$TESSERA emit --fn "$text" -o halved.c
$TESSERA emit --fn 'cut(x) = f64(i64(x))' -o cut.c
cat >main.c <<END
#include <stdio.h>
void halved(double, double *);
double cut(double);
int main(void)
{
    double out[2];
    halved(100, out);
    printf("%g %g %g %g\n", out[0], out[1], cut(-2.7), cut(3.9));
    return 0;
}
END
${CC:-cc} -std=c11 main.c halved.c cut.c -lm -o main
[ "$(./main)" = "0.78125 7 -2 3" ] || { ./main; exit 1; }
code=0
$TESSERA emit --fn 'f(x) = f64(f16(x))' -o f.c 2>error.txt || code=$?
[ $code = 4 ] && grep -q 'function f: it computes with whole numbers or by a dtype in a way that has no form here' \
    error.txt || { cat error.txt; exit 1; }
code=0
$TESSERA emit --fn 'f(x) = g(x)' -o f.c 2>error.txt || code=$?
[ $code = 3 ] && grep -q 'function f: expression " g(x)", column 2: no function is called "g"' error.txt || { cat error.txt; exit 1; }
echo ok

# Weights are moved, too: of a model of ids there is nothing else. A wrong derivative of one is found; --only chooses.
for times in 2 3; do
    cat >weight.json <<END
{ "format": "graph/1", "opset": { "": 17 },
  "inputs": [ { "name": "ids", "dtype": "i64", "shape": [3] } ], "outputs": [ { "name": "y" } ],
  "scalars": [ { "name": "sq(x)", "text": "x*x", "derivative": "$times*x" } ],
  "nodes": [ { "name": "w", "op": "tessera.parameter", "in": [], "out": ["w"],
      "attr": { "shape": [4, 2], "seed": 1, "dtype": "f64" } },
    { "name": "v", "op": "tessera.parameter", "in": [], "out": ["v"], "attr": { "shape": [2], "seed": 2, "dtype": "f64" } },
    { "op": "tessera.sq", "in": ["w"], "out": ["s"] }, { "op": "Gather", "in": ["s", "ids"], "out": ["g"] },
    { "op": "Mul", "in": ["g", "v"], "out": ["y"] } ] }
END
    code=0
    $TESSERA check-grad weight.json --json >out.json || code=$?
    python3 -c 'import json, sys
rows = {i["name"]: (i["of"], i["verdict"]) for i in json.load(open("out.json"))["inputs"]}
good = sys.argv[1] == "2"
assert rows == {"w": ("weight", "good" if good else "wrong"), "v": ("weight", "good")}, rows
assert sys.argv[2] == "01"[not good], sys.argv' $times $code
done
$TESSERA check-grad weight.json --only v | grep -q '^v.*weight.*good$'
! $TESSERA check-grad weight.json --only 'q*' 2>err || exit 1
grep -q 'no input or weight of the model is of real numbers and matches q\*' err || { cat err; exit 1; }
