#!/bin/sh
# What the field writes, or may write, and readers are to take: one operator set stated twice, a type that says nothing,
# functions told apart by an overload, the writer's name in two lines, names of external files with an empty part, a length
# of 0, weights that may be given as inputs, in another shape too. Values are compared.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
python3 - "$SOURCE/tests/import" <<'PY' || exit 77
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
from malformed import *
def function(overload, kind):
    return msg(25, msg(1, "Twice") + msg(4, "a") + msg(5, "b") + msg(7, node(kind, "a,a", "b")) +
               msg(9, msg(1, "") + num(2, 17)) + msg(10, "my") + msg(13, overload))
relu = graph([node("Relu", "x", "y", "n")], [port("x", dims=(3,))], [port("y", dims=(3,))])
own = msg(8, msg(1, "my") + num(2, 1))
x, y = [port("x", dims=(3,))], [port("y", dims=("n",))]
add = [node("Add", "x,w", "y", "n")]
files = {
    "opsets": model(relu, more=msg(8, msg(1, "ai.onnx") + num(2, 17))),
    "producer": model(relu, more=msg(2, "two\nlines") + msg(3, "\x01")),
    "untyped": model(graph([node("Relu", "x", "y", "n")], x, [msg(1, "y") + msg(2, b"")])),
    "overload": model(graph([node("Twice", "x", "t", "n", "my", raw=msg(8, "sum")),
                             node("Twice", "t", "y", "m", "my", raw=msg(8, "product"))], x, y),
                      more=own + function("sum", "Add") + function("product", "Mul")),
    "length": model(graph(add, x, y, [external("w", "w.bin", (3,), offset="0", length="0")])),
    "slashes": model(graph(add, x, y, [external("w", "sub//w.bin", (3,))])),
    "default": model(graph(add, x + [port("w", dims=("k",))], y, [tensor("w", (3,), raw=np.ones(3, "<f4").tobytes())])),
    "held": model(graph(add, x, y, [tensor("w", (3,), raw=np.ones(3, "<f4").tobytes())])),
}
files["old"] = b"\x08\x03" + files["default"][2:]  # of a time when weights had to be listed
for name, data in files.items():
    open(name + ".onnx", "wb").write(data)
os.mkdir("sub")
for name in "w.bin", "sub/w.bin":
    open(name, "wb").write(np.ones(3, "<f4").tobytes())
np.save("x.npy", np.array([-1, 2, 3], np.float32))
np.save("one.npy", np.array([10], np.float32))
np.save("wide.npy", np.array([10.0]))
PY

# gives WANT MODEL [OPTION...]: y of a run on both
gives() {
    want=$1 && shift
    for target in interp c; do
        rm -rf got
        expect 0 '' run "$@" --in x=x.npy --target $target --out got -q
        checked=$((checked + 1))
        y=$(python3 -c 'import numpy as np; print(*np.load("got/y.npy").tolist())')
        [ "$y" = "$want" ] || wrong "$*: $y, $want expected"
    done
}
gives '0.0 2.0 3.0' opsets.onnx
gives '0.0 2.0 3.0' producer.onnx
gives '0.0 2.0 3.0' untyped.onnx
gives '4.0 16.0 36.0' overload.onnx
gives '0.0 3.0 4.0' length.onnx
gives '0.0 3.0 4.0' slashes.onnx
gives '0.0 3.0 4.0' default.onnx
gives '9.0 12.0 13.0' default.onnx --in w=one.npy
expect 3 'weight "w": the new value is f64[1], f32[3] expected' run default.onnx --in x=x.npy --in w=wide.npy
expect 2 'the model has no input "w"' run held.onnx --in x=x.npy --in w=one.npy
expect 2 'the model has no input "w"' run old.onnx --in x=x.npy --in w=one.npy
finish
