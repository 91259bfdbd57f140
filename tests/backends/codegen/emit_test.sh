#!/bin/sh
# A model that was emitted builds without a warning and gives the bits that a run here gives; the same model gives the same
# folder; names of a model stay out of its code.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
command -v make >/dev/null || { echo "skipped: no make"; exit 77; }
python3 -c 'import numpy' 2>/dev/null || { echo "skipped: python3 has no numpy"; exit 77; }
python3 - <<'PY'
import json, numpy as np
r = np.random.default_rng(1)
np.save("ids.npy", r.integers(0, 30522, (1, 8)))
np.save("mask.npy", np.array([[1, 1, 1, 1, 1, 1, 0, 0]]))
np.save("types.npy", r.integers(0, 2, (1, 8)))
np.save("x.npy", r.standard_normal((2, 3), np.float32))
np.save("rows.npy", np.array([3, 1]))
np.save("far.npy", np.array([3, 4]))
evil = 'y"; #error */ %s\\'
json.dump({"format": "graph/1", "name": evil, "opset": {"": 17},
    "inputs": [{"name": "x */ #error", "dtype": "f32", "shape": [2, 3]}, {"name": "rows", "dtype": "i64", "shape": [2]}],
    "outputs": [{"name": evil}, {"name": "x */ #error"}, {"name": "lexicon"}],
    "constants": {"lexicon": {"dtype": "f32", "shape": [4, 3], "data": [i / 7 for i in range(12)]}},
    "nodes": [{"name": "pluck", "op": "Gather", "in": ["lexicon", "rows"], "out": ["taken"]},
        {"name": "lexicon", "op": "Add", "in": ["taken", "x */ #error"], "out": [evil]}]}, open("graph.json", "w"))
PY

# built FOLDER MAKE-ARGUMENT...: builds without a word, by the compiler that kernels have here
built() {
    folder=$1
    shift
    checked=$((checked + 1))
    make -s -C "$folder" CC="${TESSERA_CC:-gcc}" CPPFLAGS="-Wall -Wextra -Werror" "$@" >log 2>&1 || wrong "make $* in $folder fails" "$(head -c 900 log)"
    [ -s log ] && wrong "make $* in $folder is not quiet" "$(head -c 300 log)"
}

# same FOLDER NUMBER FILE: an output of the program is, byte for byte, what a run wrote
same() {
    checked=$((checked + 1))
    cmp "$1/output$2.npy" "$3" >&2 || wrong "$1: output $2 is not $3"
}

# bert FOLDER ARGUMENT...: bert-tiny emitted, built, run, compared
bert() {
    folder=$1
    shift
    expect 0 "wrote $folder; build it" emit bert-tiny --dim seq=8 "$@" -o "$folder"
    built "$folder" ${with:+"CC=$with"}
    "$TESSERA" run bert-tiny --in input_ids=ids.npy --in attention_mask=mask.npy --in token_type_ids=types.npy "$@" \
        -o "$folder.want" -q >/dev/null || wrong "run $* fails"
    (cd "$folder" && ./model ../ids.npy ../mask.npy ../types.npy) || wrong "$folder: the program fails"
    same "$folder" 0 "$folder.want/last_hidden_state.npy"
    same "$folder" 1 "$folder.want/pooler_output.npy"
}

emit() {
    "$TESSERA" emit bert-tiny --dim seq=8 "$@" -q || wrong "emit $* fails"
}

with=gcc # as the Makefile says: the same bits
bert team --threads 2
with=
bert alone --threads 1 --isa plain
bert panels --threads 3 --schema panels
emit --threads 2 -o again
(cd team && make -s clean && rm output?.npy)
diff -r team again >&2 || wrong "two folders of one model differ"
if command -v clang >/dev/null; then
    built again CC=clang
fi

touch again/note
cp -r again before
expect 8 "cannot write 'again': the folder is not empty" emit bert-tiny --dim seq=8 -o again
diff -r again before >&2 || wrong "a refusal changed the folder"

# a kernel without elements: a product of no rows, rows of numbers that sum up to 1 and are none
echo '{"format": "graph/1", "name": "none", "opset": {"": 17}, "outputs": [{"name": "y"}],
    "inputs": [{"name": "a", "dtype": "f32", "shape": [0, 5]}, {"name": "b", "dtype": "f32", "shape": [5, 4]}],
    "nodes": [{"op": "MatMul", "in": ["a", "b"], "out": ["c"]}, {"op": "Softmax", "in": ["c"], "out": ["y"]}]}' >none.json
expect 0 "wrote none; build it" emit none.json -o none
built none
if command -v clang >/dev/null; then
    (cd none && make -s clean)
    built none CC=clang
fi

# windows: tiles at edges take their place as numbers, and only those that they use
python3 -c 'import numpy as np; np.save("image.npy", np.random.default_rng(2).standard_normal((1, 3, 32, 32), np.float32))'
expect 0 "wrote windows; build it" emit resnet-tiny --threads 2 -o windows
built windows
"$TESSERA" run resnet-tiny --in x=image.npy --threads 2 -o windows.want -q >/dev/null || wrong "run resnet-tiny fails"
(cd windows && ./model ../image.npy) || wrong "windows: the program fails"
same windows 0 windows.want/y.npy

# functions of reals are those of vectors
for op in Gelu Softmax; do
    echo "{\"format\": \"graph/1\", \"opset\": {\"\": 20}, \"inputs\": [{\"name\": \"a\", \"dtype\": \"f32\", \"shape\": [64, 64]}],
 \"outputs\": [{\"name\": \"y\"}], \"nodes\": [{\"op\": \"$op\", \"in\": [\"a\"], \"out\": [\"y\"]}]}" >$op.json
    expect 0 "wrote $op; build it" emit $op.json -o $op
    echo $op $(cat $op/k_*.c | grep -c '_store(.*fast_[a-z]*_x')
done >left
[ "$(cat left)" = "Gelu 1
Softmax 1" ] || wrong "loops that are not in vectors" "$(cat left)"

# outputs that are inputs or constants, indices that are checked, names that are not nice
expect 0 "wrote graph; build it" emit graph.json --threads 2 -o graph
built graph
"$TESSERA" run graph.json --in 'x */ #error=x.npy' --in rows=rows.npy -o graph.want -q >/dev/null || wrong "run graph.json fails"
(cd graph && ./model ../x.npy ../rows.npy) || wrong "graph: the program fails"
same graph 0 graph.want/y*.npy
same graph 1 graph.want/x*.npy
same graph 2 graph.want/lexicon.npy
(cd graph && ./model ../x.npy ../far.npy) 2>err && wrong "an index outside its axis is taken"
grep -q '^the inputs: an index lies outside its axis$' err || wrong "not said: an index outside its axis" "$(cat err)"
# names stand in comments alone, which list a kernel's layers, and there are nice
sed -i '/^ \*   k[0-9]* [A-Za-z0-9_./-]*\( \*\/\)\?$/d' graph/k_*.c
grep -l 'error\|lexicon\|pluck' graph/*.c graph/*.h | grep -v '^graph/\(main\|model\|team\)\.[ch]$' && wrong "a model's name in the code"
python3 - <<'PY' || wrong "ports.json does not name inputs and outputs" "$(cat graph/ports.json)"
import json
p, g = json.load(open("graph/ports.json")), json.load(open("graph.json"))
for what in "inputs", "outputs": # not the names of the steps that make them
    assert [x["name"] for x in p[what]] == [x["name"] for x in g[what]], what
PY
finish
