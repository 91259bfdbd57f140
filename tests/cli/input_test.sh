#!/bin/sh
# Bad models, inputs and schemas: each ends with its exit code and one message that names the value, the place and the remedy,
# and leaves nothing behind.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
python3 - <<'PY' || exit 77
import numpy as np
np.save("ids.npy", np.zeros((1, 8), np.int64))
np.save("real.npy", np.zeros((1, 8), np.float32))
ids = np.zeros((1, 8), np.int64)
ids[0, 3] = 99999
np.save("far.npy", ids)
np.save("cube.npy", np.zeros((1, 8, 2), np.int64))
np.save("complex.npy", np.zeros((1, 8), np.complex64))
PY
printf 'hi' >junk.onnx
: >empty.onnx
mkdir folder

# models
expect 8 'there is no file, folder or built-in model "bert-bse"' run bert-bse
expect 8 'hint: did you mean bert-base?' run bert-bse
expect 8 'built-in models are' show nothing.onnx
expect 3 'junk.onnx' show junk.onnx
expect 3 'file is empty' show empty.onnx
cp junk.onnx model.safetensors
expect 3 'a model is a file that ends in .json, .onnx or .txt, or the folder of one; weights alone are none' show model.safetensors
rm model.safetensors
expect 8 'holds no graph.json or model.onnx' show folder

# dimensions
expect 2 'the model has no dimension "sq"' run bert-tiny --dim sq=8
expect 2 'its dimensions are batch, seq' run bert-tiny --dim sq=8
expect 2 '--dim "seq=x": an extent is a whole number' run bert-tiny --dim seq=x
expect 2 'error: --dim "seq=x": an extent' bench bert-tiny -s panels --dim seq=x # no schema is to blame
expect 2 "error: there is no instruction set 'sse9'" bench bert-tiny -s panels --isa sse9
expect 6 'error: input "input_ids" holds 99999 at [0,3]; embeddings.word_embeddings.weight has rows 0 to ' \
    run bert-tiny --seed 1 --in input_ids=far.npy
expect 6 'error: input "input_ids" holds 99999 at [0,3]; embeddings.word_embeddings.weight has rows 0 to ' \
    run bert-tiny --seed 1 --in input_ids=far.npy --target interp
expect 2 '"seq=-1"' run bert-tiny --dim seq=-1
expect 3 'dimension "seq" is 9 by --dim seq=9 and 8 by the value of input "input_ids"' \
    run bert-tiny --in input_ids=ids.npy --dim seq=9 --random
expect 3 'dimension "seq" is 8 by the value of input "input_ids", outside of --dim seq=1..7' \
    run bert-tiny --in input_ids=ids.npy --dim seq=1..7 --random
expect 2 'the range is empty' run bert-tiny --dim seq=7..1 --random
expect 0 'last_hidden_state' run bert-tiny --in input_ids=ids.npy --dim seq=1..16 --random
expect 3 'dimension "seq" is 0' run bert-tiny --dim seq=0 --random

# names of a file are labels where values say otherwise
python3 -c 'import numpy as np; np.save("three.npy", np.ones((1, 3), np.float32)); np.save("seven.npy", np.ones((1, 7), np.float32))'
echo '{"format": "graph/1", "opset": {"": 20}, "inputs": [{"name": "ids", "dtype": "f32", "shape": ["batch", "seq"]},
 {"name": "mask", "dtype": "f32", "shape": ["batch", "seq"]}], "outputs": [{"name": "y"}],
 "nodes": [{"op": "Concat", "in": ["ids", "mask"], "out": ["y"], "attr": {"axis": 1}}]}' >labels.json
expect 0 'note: dimension "seq" is 3 by the value of input "ids"; dimension 1 of input "mask", of the same name, is 7' \
    run labels.json --in ids=three.npy --in mask=seven.npy --target interp
expect 3 'dimension "seq" is 3 by --dim seq=3 and 7 by the value of input "mask"' \
    run labels.json --in ids=three.npy --in mask=seven.npy --dim seq=3
rm labels.json three.npy seven.npy

# 300 inputs, summed up: all are asked for, and a run takes each once
awk 'BEGIN { printf "{\"format\": \"graph/1\", \"opset\": {\"\": 17}, \"inputs\": ["
    for (i = 0; i < 300; i++) printf "%s{\"name\": \"x%d\", \"dtype\": \"f32\", \"shape\": [4]}", i ? ", " : "", i
    printf "], \"nodes\": [{\"op\": \"Sum\", \"in\": ["
    for (i = 0; i < 300; i++) printf "%s\"x%d\"", i ? ", " : "", i
    print "], \"out\": [\"y\"]}], \"outputs\": [{\"name\": \"y\"}]}" }' >many.json
expect 2 'no value for inputs: x0, x1, x2' run many.json
for on in c interp; do expect 0 'y ' run many.json --seed 1 --target $on --out many-$on; done
cmp many-c/y.npy many-interp/y.npy || wrong "300 inputs are added up in two ways"
$TESSERA run many.json --seed 1 -q --in x299=many-c/y.npy --target c --out other >/dev/null
cmp -s many-c/y.npy other/y.npy && wrong "the last of 300 inputs is not read"
rm -r many-c many-interp many.json other

# inputs
expect 2 'no value for inputs: input_ids, attention_mask, token_type_ids' run bert-tiny
expect 2 '--seed 1 makes random values' run bert-tiny
expect 2 'no value for inputs: attention_mask, token_type_ids' run bert-tiny --in input_ids=ids.npy
expect 2 'no value for inputs: input_ids, attention_mask' run gpt2-tiny # and none for the cache, which has no elements
grep -q 'past' "$dir/err" && wrong "inputs without elements are asked for" "$(cat "$dir/err")"
expect 0 'present.1.value' run gpt2-tiny --in input_ids=ids.npy --in attention_mask=ids.npy --target interp
expect 2 'attention_mask, past.0.key, past.0.value' run gpt2-tiny --dim past=1
expect 2 'the model has no input "input_id"' run bert-tiny --in input_id=ids.npy
expect 2 'did you mean input_ids?' run bert-tiny --in input_id=ids.npy
expect 2 'its inputs are input_ids, attention_mask' run bert-tiny --in workspace=ids.npy
expect 3 'matmul: inner extents 4 and 5 differ' run 'matmul f32[3,4] f32[5,6]' --in x0=ids.npy # it has no inputs yet
printf '%s' '{"format": "graph/1", "name": "m", "opset": {"": 17}, "inputs": [], "outputs": [{"name": "y"}],
    "constants": {"a": {"dtype": "f32", "shape": [1], "data": [1]}},
    "nodes": [{"op": "Neg", "in": ["a"], "out": ["y"]}]}' >none.json
expect 2 'it has no inputs' run none.json --in x=ids.npy
rm none.json
expect 2 'this input has a value already' run bert-tiny --in input_ids=ids.npy --in input_ids=ids.npy
expect 8 "none.npy" run bert-tiny --in input_ids=none.npy
expect 3 'junk.onnx' run bert-tiny --in input_ids=junk.onnx
expect 3 '<c8' run bert-tiny --in input_ids=complex.npy
expect 3 'rank 3' run bert-tiny --in input_ids=cube.npy --random
expect 3 'input "input_ids"' run bert-tiny --in input_ids=real.npy --random

# values that decide a shape: a cost that may be raised, through weights laid out at load (ConvInteger) too
python3 -c 'import numpy as np; np.save("wide.npy", np.ones((300, 300), np.float32)); np.save("bytes.npy", np.ones((1, 16, 2, 2), np.uint8))'
echo '{"format": "graph/1", "opset": {"": 17}, "inputs": [{"name": "x", "dtype": "f32", "shape": ["n", "n"]}],
 "outputs": [{"name": "y"}], "nodes": [{"op": "MatMul", "in": ["x", "x"], "out": ["p"]},
 {"op": "NonZero", "in": ["p"], "out": ["y"]}]}' >places.json
expect 4 'but follows from values known only at run time: from the values given they follow by more than 16777216 elements' \
    run places.json --in x=wide.npy --target interp
expect 4 'or raise --limit known=268435456' run places.json --in x=wide.npy --target interp
expect 0 '[2, 90000]' run places.json --in x=wide.npy --target interp --limit known=64M
expect 4 'extent, but follows from values known only at run time' run places.json --random --dim n=4
python3 -c 'import json; print(json.dumps({"format": "graph/1", "opset": {"": 17}, "inputs": [{"name": "x", "dtype": "u8",
 "shape": [1, 16, 2, 2]}], "constants": {"w": {"dtype": "i8", "shape": [1, 16, 1, 1], "data": [1] * 16}, "z": {"dtype": "u8", "shape": [], "data": [3]}},
 "outputs": [{"name": "y"}], "nodes": [{"op": "ConvInteger", "in": ["x", "w", "z"], "out": ["c"]},
 {"op": "NonZero", "in": ["c"], "out": ["y"]}]}))' >places.json
expect 0 '[4, 4]' run places.json --in x=bytes.npy --target interp
rm places.json wide.npy bytes.npy

# outputs
expect 8 "cannot make the folder 'ids.npy': it is a file" run bert-tiny --random --out ids.npy
expect 8 "cannot make the folder 'ids.npy/a/b'" run bert-tiny --random --out ids.npy/a/b
export TESSERA_CC=/bin/false # what fails later leaves no folder either
expect 5 'exited with status 1' run bert-tiny --random --out new/deep
unset TESSERA_CC
expect 8 "cannot write 'folder': it is a folder" schema init bert-tiny -o folder
expect 8 "cannot write 'none/x.json'" schema init bert-tiny -o none/x.json
expect 8 "cannot write 'none/r.json'" bench bert-tiny -o none/r.json
# a limit on the size of files stands for a full disk: what stood there stays, nothing else is left
full() { (trap '' XFSZ && ulimit -f 1 && "$TESSERA" "$@" >"$dir/out" 2>"$dir/err"); }
for said in "cannot write 'real.json': " "cannot write 'emitted/"; do
    checked=$((checked + 1))
    echo before >real.json
    case $said in
    *real*) full schema init bert-tiny -o real.json ;;
    *) full emit bert-tiny --dim seq=8 -o emitted ;;
    esac
    [ $? = 8 ] || wrong "a full disk: not exit code 8" "$(cat "$dir/err")"
    grep -qF "error: $said" "$dir/err" || wrong "a full disk: not \"$said\"" "$(cat "$dir/err")"
    grep -q 'hint: make room there' "$dir/err" || wrong "a full disk: no remedy" "$(cat "$dir/err")"
    [ "$(cat real.json)" = before ] || wrong "a full disk: the old file is gone"
done
rm real.json
expect 8 "cannot read 'none.json'" compare none.json none.json
expect 8 "cannot read 'none.json'" report none.json

# back ends and machines
expect 2 '"nothing"' run bert-tiny --random --target nothing
expect 2 "no instruction set 'sse9'" run bert-tiny --random --isa sse9

# schemas
schema() { # CODE TEXT JSON
    printf '%s' "$3" >"$dir/s.json"
    expect "$1" "$2" explain bert-tiny --dim seq=8 -s s.json
}
rule() { # CODE TEXT JSON
    schema "$1" "$2" "{\"format\":\"tiling/1\",\"name\":\"x\",\"rules\":[$3]}"
}
matmul() { # TEXT LOOPS
    rule 3 "$1" "{\"match\":{\"op\":[\"matmul\"]},\"loops\":[\"$2\"]}"
}
expect 8 'none.json' explain bert-tiny -s none.json
expect 3 'built in are: guess' explain bert-tiny -s nothing
schema 3 's.json:1:2: the JSON text ends too early' '{'
schema 3 's.json:1:1: an object expected' '[]'
schema 3 'format "tiling/2" is not known' '{"format":"tiling/2","rules":[]}'
schema 3 'did you mean rules?' '{"format":"tiling/1","rulez":[]}'
schema 3 'the key "rules" twice' '{"format":"tiling/1","rules":[],"rules":[]}'
schema 3 'the schema is for target "cuda"' '{"format":"tiling/1","target":"cuda","rules":[]}'
schema 3 "leads out of the file's folder" '{"format":"tiling/1","extends":"../x.json","rules":[]}'
rule 3 'did you mean loops?' '{"match":{"op":["matmul"]},"loopz":["m n k"]}'
rule 3 'no operation "matmull"' '{"match":{"op":["matmull"]},"loops":["m n k"]}'
rule 3 '(/rules/0/match/dims/M): no operation has an axis "M"' '{"match":{"dims":{"M":"<=64"}},"loops":["m n k"]}'
rule 3 '(/rules/0/match/dims/oc): no operation of the rule has an axis "oc"' '{"match":{"op":"matmul","dims":{"oc":8}},"loops":["m n k"]}'
rule 3 'no operation of the rule has an axis "oc"' '{"match":{"op":["matmul","add"],"dims":{"oc":8}},"loops":["m n k"]}'
rule 0 '(rule rule 0)' '{"match":{"op":["conv2d","matmul"],"dims":{"oc":1,"b1":1}},"loops":["m n k","guess"]}' # of one of them
rule 0 '' '{"match":{"op":"attention","stage":"matmul","dims":{"n":">1"}},"loops":"guess","optional":true}' # of the stage
rule 3 'is no test of an extent' '{"match":{"dims":{"n":"x"}},"loops":["m n k"]}'
rule 4 'compute "bf16" is not available' '{"loops":["m n k"],"compute":"bf16"}'
matmul 'no axis "q" here; the axes are: m n k' 'm n q'
matmul 'axis m is walked twice' 'm n k m'
rule 0 '(rule rule 0)' '{"match":{"name":"pooler_output"},"loops":"m n k"}' # of one row
matmul 'no loop k without a step: every axis ends in one' 'm n'
matmul 'loop k, whose parts are spread over the cores, is inside another of that axis' 'k/64 k/8@core m n k'
matmul 'vector registers, ' 'n/512 m/64 k m@unroll n@vector'
matmul ': unroll less, or write m/tile n/tile, here m/' 'n/512 m/64 k m@unroll n@vector'
schema 3 's.json:1:70 (/override/"/rules/7/loops"): "panels" has only rules 0 and 1' \
    '{"format":"tiling/1","extends":"panels","override":{"/rules/7/loops":"m"}}'
checked=$((checked + 1)) # one note for all kernels that it is about
printf '%s' '{"format":"tiling/1","rules":[{"match":{"op":["matmul"]},"loops":["q","guess"]}]}' >s.json
"$TESSERA" schema lint s.json bert-tiny --dim seq=8 >out 2>err || wrong "schema lint fails" "$(cat err)"
[ "$(grep -c 'no axis "q"' err)" = "$(sed 's/.*: //' err | sort -u | wc -l)" ] && grep -q 'is refused for 12 kernels .*: loops "q"' err ||
    wrong "schema lint repeats what it says" "$(cat err)"
grep -q "0 of 21 kernels follow its rules, 13 fit .*, $(wc -l <err) warnings" out || wrong "schema lint counts otherwise than it says" "$(cat out)"
matmul 'no role "warp"' 'm n k@warp'
matmul 'a number of at least 1 expected' 'm/0 n k'
for f in ./* ./.*; do
    case $f in
    ./. | ./.. | ./ids.npy | ./real.npy | ./far.npy | ./cube.npy | ./complex.npy | ./junk.onnx | ./empty.onnx | ./folder | ./s.json) ;;
    ./out | ./err) ;;
    *) wrong "left behind: $f" ;;
    esac
done
finish
