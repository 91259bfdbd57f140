#!/bin/sh
# run --shards: a batch in parts has the bits of one device on any number of them, the values of a whole batch, and what cannot
# be cut is refused.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
python3 -c 'import numpy' 2>/dev/null || { echo "skipped: python3 has no numpy"; exit 77; }
cat >rows.json <<'JSON'
{ "format": "graph/1", "name": "rows", "opset": { "": 17 },
  "inputs": [ { "name": "x", "dtype": "f32", "shape": ["batch", "width"] }, { "name": "w", "dtype": "f32", "shape": ["width", 5] },
              { "name": "b", "dtype": "f32", "shape": ["batch", 1] } ],
  "outputs": [ { "name": "y" } ],
  "nodes": [ { "op": "MatMul", "in": ["x", "w"], "out": ["h"] }, { "op": "Add", "in": ["h", "b"], "out": ["s"] },
             { "op": "Softmax", "in": ["s"], "out": ["y"], "attr": { "axis": -1 } } ] }
JSON
sed 's/"axis": -1/"axis": 0/; s/"Softmax", "in": \["s"\], "out": \["y"\], "attr": { "axis": 0 }/"ReduceSum", "in": ["s"], "out": ["y"]/' rows.json >sum.json
sed 's/"batch"/8/g' rows.json >fixed.json
small="--seed 3 --threads 1"
# shellcheck disable=SC2086
{
"$TESSERA" run rows.json $small --dim batch=24 --dim width=40 -o whole -q >said 2>&1 || wrong "the whole batch fails" "$(cat said)"
for target in c c:numa0,c:cores0 c,c:numa0,c:cores0; do
    rm -rf parts
    "$TESSERA" run rows.json $small --dim batch=24 --dim width=40 --shards 8 --target $target -o parts -q >said 2>&1 || wrong "shards on $target fail" "$(cat said)"
    [ -e one ] || cp -r parts one
    cmp -s one/y.npy parts/y.npy || wrong "$target: other bits than one device"
done
python3 - <<'PY' || wrong "a batch in shards has other values than a whole one"
import numpy as np
a, b = np.load("whole/y.npy"), np.load("one/y.npy")
assert a.shape == b.shape == (24, 5) and np.abs(a - b).max() < 1e-6 and len(np.unique(a[:, 0])) == 24
PY
# A model that rules cut over devices: shards go through them one behind the other.
cat >cut.json <<'JSON'
{ "format": "tiling/1", "name": "cut", "rules": [ { "match": { "op": "matmul" }, "place": "c:cores0" },
             { "place": "c:numa0" } ] }
JSON
for target in c:numa0 c:numa0,c:cores0; do
    rm -rf parts
    "$TESSERA" run rows.json $small --dim batch=24 --dim width=40 --shards 8 --target $target -s cut.json --trace trace.json -o parts -q >said 2>&1 ||
        wrong "a pipeline on $target fails" "$(cat said)"
    cmp -s one/y.npy parts/y.npy || wrong "a pipeline on $target: other bits than one device"
done
# Each limit is of its device.
both="rows.json $small --dim batch=24 --dim width=40 --shards 8 --target c:numa0,c:cores0"
for limit in c:numa0=64M,c:cores0=64M 64M,c:cores0=32M; do
    rm -rf parts
    "$TESSERA" run $both --mem-limit $limit -o parts -q >said 2>&1 || wrong "limits of two devices fail" "$(cat said)"
    cmp -s one/y.npy parts/y.npy || wrong "with limits: other bits than one device"
done
expect 2 'the plan is for no such device' run $both --mem-limit c:numa1=64M
# What one device may not hold two do, by the guess's own cut: the same bits.
python3 -c '
import json
nodes, x = [], "x"
for i in range(8):
    nodes += [{"name": f"w{i}", "op": "tessera.parameter", "in": [], "out": [f"w{i}"], "attr": {"shape": [512, 512], "seed": i + 1, "scale": 0.05}},
              {"op": "MatMul", "in": [x, f"w{i}"], "out": [f"h{i}"]}, {"op": "Tanh", "in": [f"h{i}"], "out": [f"t{i}"]}]
    x = f"t{i}"
json.dump({"format": "graph/1", "name": "deep", "opset": {"": 17}, "nodes": nodes, "outputs": [{"name": x}],
           "inputs": [{"name": "x", "dtype": "f32", "shape": ["batch", 512]}]}, open("deep.json", "w"))'
deep="deep.json $small --dim batch=64 --shards 8"
"$TESSERA" run $deep --target c:cores0 -o uncut -q >said 2>&1 || wrong "one device fails" "$(cat said)"
expect 7 'device c:cores0: the plan needs ' run $deep --target c:cores0 --mem-limit 6M
"$TESSERA" run $deep --target c:cores0,c:numa0 --mem-limit 6M --trace deep-trace.json -o spans -q >said 2>&1 ||
    wrong "what one device may not hold is not cut over two" "$(cat said)"
cmp -s uncut/t7.npy spans/t7.npy || wrong "a pipeline by the guess's cut: other bits than one device"
[ "$(grep -o '"tid":[01],' deep-trace.json | sort -u | wc -l)" = 2 ] || wrong "one device computes all"
python3 - <<'PY' || wrong "the trace of a pipeline has not 8 runs on each of two devices"
import json
spans = [e for e in json.load(open("trace.json"))["traceEvents"] if e["ph"] == "X"]
kernels = {(e["tid"], e["args"]["kernel"]) for e in spans}
assert len({lane for lane, kernel in kernels}) == 2 and len(spans) == 8 * len(kernels), kernels
PY
expect 2 'trace: it is of one plan, and here each of 2 devices has one' run rows.json $small --dim batch=24 --dim width=4 --shards 8 --target c:numa0,c:cores0 --trace t.json
expect 0 'last_hidden_state  f32    [4, 8, 128]' run bert-tiny $small --dim batch=4 --dim seq=8 --shards 2
expect 2 'the batch, dimension "batch", is of 6, no multiple of it' run rows.json $small --dim batch=6 --dim width=4 --shards 4
expect 2 'the first axis of input "x" is of a fixed extent' run fixed.json $small --dim width=4 --shards 2
expect 4 'output "y" has no batch as its first axis' run sum.json $small --dim batch=8 --dim width=4 --shards 2
expect 2 '2 devices cannot share --shards 1' run rows.json $small --dim batch=8 --dim width=4 --shards 1 --target c,c:cores0
for of in PMI_SIZE OMPI_COMM_WORLD_SIZE; do # by mpirun all of them would write one folder
    export $of=2
    expect 2 '--shards: this is one of 2 processes, each of which would run all of them' run rows.json $small --dim batch=8 --dim width=4 --shards 2 -o twice
    unset $of
done
[ -e twice ] && wrong "what is refused leaves a folder"
expect 2 'values inside the model are those of a whole run' run rows.json $small --dim batch=8 --dim width=4 --shards 2 --all
}
finish
