#!/bin/sh
# Pictures of a graph: every node a box as text for Graphviz, recipes and equal layers folded as SVG. Names from files are
# escaped, and nothing is written without dot.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
boxes() { grep -c '^ *n[0-9]* \[' "$1"; }

expect 0 'wrote whole.dot' show bert-tiny --dot whole.dot
nodes=$("$TESSERA" show bert-tiny --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["nodes"]))')
[ "$(boxes whole.dot)" = "$nodes" ] || wrong "$(boxes whole.dot) boxes for $nodes nodes"

cat >odd.json <<'JSON'
{ "format": "graph/1", "name": "odd", "opset": { "": 17 },
  "inputs": [ { "name": "a\"];evil[label=\"\\", "dtype": "f32", "shape": [2, 3] } ],
  "outputs": [ { "name": "<b>&" } ],
  "nodes": [ { "op": "Softmax", "in": ["a\"];evil[label=\"\\"], "out": ["<b>&"] } ] }
JSON
expect 0 'wrote odd.dot' show odd.json --dot odd.dot
grep -q '^ *evil' odd.dot && wrong 'a name became a node'
expect 8 'cannot write' show odd.json --dot /nowhere/odd.dot

# What waits for values is drawn as the file has it: a loop as a box before and one behind its body.
PYTHONPATH=$SOURCE/tests/import python3 -B - <<'PY'
from malformed import *
body = graph([node("Add", "s,s", "t", "twice"), node("Identity", "c", "d", "on")],
             [port("i", I64), port("c", 9), port("s", dims=(2,))], [port("d", 9), port("t", dims=(2,))])
loop = node("Loop", "n,,x", "y", "again", raw=msg(5, msg(1, "body") + msg(6, body) + num(20, 5)))
open("loop.onnx", "wb").write(model(graph([loop], [port("n", I64), port("x", dims=(2,))], [port("y", dims=(2,))])))
PY
expect 0 'drawn are the steps of the file' show loop.onnx --dot loop.dot
for line in 'label="Loop body"' 'label="Add\ntwice"' 'label="Loop: result\nagain"'; do
    grep -qF "$line" loop.dot || wrong "no $line in $(cat loop.dot)"
done
expect 0 'wrote steps.dot' show loop.onnx --dot steps.dot --stage imported
cmp -s loop.dot steps.dot || wrong 'the steps of the file are not what is drawn'
expect 2 'no dimension' show loop.onnx --dim other=1 --dot never.dot

if command -v dot >/dev/null; then
    expect 0 'wrote loop.svg' show loop.onnx --svg loop.svg
    expect 0 'wrote bert.svg' show bert-tiny --svg bert.svg
    expect 0 'wrote odd.svg' show odd.json --svg odd.svg
    python3 - <<'PY' || wrong 'the SVG is not what it should be'
import re, sys, xml.dom.minidom
text = open("bert.svg").read()
xml.dom.minidom.parse("odd.svg")
xml.dom.minidom.parseString(text)
words = re.findall(r"<text[^>]*>([^<]*)</text>", text)
want = ["layer_norm", "attention", "gelu", "input_ids", "last_hidden_state"]
missing = [w for w in want if w not in words]
if missing or not any("(2 times)" in w for w in words) or words.count("attention") > 3:
    sys.exit(f"missing {missing} in {words}")
PY

    # Equal layers once, cheap steps in the box of what they follow, caches and outputs of equal layers as one.
    expect 0 'wrote gpt2.svg' show gpt2 --svg gpt2.svg
    expect 0 'wrote resnet.svg' show resnet-50 --svg resnet.svg
    expect 0 'wrote whole.svg' show resnet-50 --svg whole.svg --whole
    expect 0 'wrote open.svg' show gpt2 --svg open.svg --expand 'atten*'
    python3 - <<'PY' || wrong 'boxes are not folded'
import html, re, sys
def words(path):
    return [" ".join(html.unescape(w).split()) for w in re.findall(r"<text[^>]*>([^<]*)</text>", open(path).read())]
def boxes(path): return open(path).read().count('class="node"')
gpt2, resnet = words("gpt2.svg"), words("resnet.svg")
for have, where in (("present.0.key ... present.11.key (12)", gpt2), ("0-11 (12 times)", gpt2),
                    ("matmul + add + add", gpt2), ("conv + add + relu", resnet), ("conv1", resnet), ("1-2 (2 times)", resnet)):
    if have not in where:
        sys.exit(f"{have!r} is not in {where}")
if boxes("gpt2.svg") > 25 or boxes("resnet.svg") > 40 or boxes("whole.svg") < 300:
    sys.exit(f'{boxes("gpt2.svg")}, {boxes("resnet.svg")} and {boxes("whole.svg")} boxes')
if "attention" in words("open.svg") or "softmax" not in words("open.svg") or "attention" not in gpt2:
    sys.exit(f"attention is not expanded: {words('open.svg')}")
if any(re.fullmatch(r"n\d+", w) for w in gpt2 + resnet):
    sys.exit("a box without a label")
PY
fi
env PATH=/nowhere "$TESSERA" show bert-tiny --svg never.svg 2>refusal
[ $? = 5 ] && grep -q 'dot, which draws, is not installed' refusal || wrong "without dot: $(cat refusal)"
[ -e never.svg ] && wrong 'something was written without dot'
finish
