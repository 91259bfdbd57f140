#!/bin/sh
# program_test.sh - a graph as text is a model: what show prints is read, and printed again as the same bytes; it runs to
# the values of the model that it was printed from; what is wrong in it is said with its line.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1

cat > loop.json <<'TEXT'
{"format": "graph/1", "opset": {"": 17}, "inputs": [{"name": "x", "dtype": "f32", "shape": [4, 30]}],
 "outputs": [{"name": "end"}],
 "constants": {"trips": {"dtype": "i64", "shape": [], "data": [20]}, "yes": {"dtype": "bool", "shape": [], "data": [true]}},
 "nodes": [{"op": "Loop", "in": ["trips", "yes", "x"], "out": ["end"], "attr": {"body":
   {"inputs": [{"name": "i", "dtype": "i64", "shape": []}, {"name": "go", "dtype": "bool", "shape": []},
               {"name": "s", "dtype": "f32", "shape": [4, 30]}],
    "outputs": [{"name": "on"}, {"name": "t"}],
    "nodes": [{"op": "Identity", "in": ["go"], "out": ["on"]}, {"op": "Tanh", "in": ["s"], "out": ["a"]},
              {"op": "Add", "in": ["a", "s"], "out": ["t"]}]}}}]}
TEXT
for model in bert-tiny gpt2-tiny resnet-tiny vae-tiny adbench-gmm loop.json "softmax f32[3,5]"; do
    "$TESSERA" show "$model" --stage folded > once.txt || wrong "$model is not shown"
    "$TESSERA" show once.txt --stage folded > twice.txt || wrong "$model is not read"
    cmp once.txt twice.txt || wrong "$model is printed otherwise"
    checked=$((checked + 1))
done

"$TESSERA" show bert-tiny --stage folded > bert.txt
"$TESSERA" run bert-tiny --seed 3 --target interp -q --out named > /dev/null
"$TESSERA" run bert.txt --seed 3 --target interp -q --out read > /dev/null
for pair in last_hidden_state.y0 pooler_output.y1; do
    cmp "named/${pair%.*}.npy" "read/${pair#*.}.npy" || wrong "a text gives other values"
done

sed 's/^n3 = .*/n3 = relu(n9) : f32[3]/' bert.txt > wrong.txt
expect 3 'graph text, line 4: n9 is not defined yet' show wrong.txt
sed 's/^n3 = .*/n3 = sprout(n1) : f32[3]/' bert.txt > wrong.txt
expect 3 'no operation is called "sprout"' run wrong.txt
{ cat bert.txt; echo more; } > wrong.txt
expect 3 'the end expected at' run wrong.txt
printf 'n0 = input "x" : f32[3]\nreturn\n' > wrong.txt
expect 3 'return, the last line, names no node' show wrong.txt
finish
