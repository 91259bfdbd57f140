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
body = graph([node("Add", "s,s", "t", "twice"), node("Identity", "c", "d", "on"), node("Identity", "t", "u", "kept")],
             [port("i", I64), port("c", 9), port("s", dims=(2,))], [port("d", 9), port("t", dims=(2,)), port("u", dims=(2,))])
loop = node("Loop", "n,,x", "y,z", "again", raw=msg(5, msg(1, "body") + msg(6, body) + num(20, 5)))
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

    # A table that is tied to the last layer is read twice: the picture still ends with what is computed last, and attention
    # stands beside the projections that it reads, not within one of them. Colours are explained.
    expect 0 'wrote gpt2-tied.svg' show gpt2 --dim seq=16 --svg gpt2-tied.svg
    expect 0 'wrote bert-base.svg' show bert-base --dim seq=16 --svg bert-base.svg
    python3 - <<'PY' || wrong 'the picture reads wrongly'
import re, sys
def place(path, word): # of the box's text: x, y
    return [(float(x), float(y)) for x, y in re.findall(rf'<text[^>]*x="([-0-9.]+)" y="([-0-9.]+)"[^>]*>{word}</text>', open(path).read())]
(_, first), (_, last) = place("gpt2-tied.svg", "input_ids")[0], place("gpt2-tied.svg", "logits")[0]
if not all(first < y < last for word in ("ln_1", "mlp", "ln_f") for _, y in place("gpt2-tied.svg", word)):
    sys.exit(f"inputs at {first}, logits at {last}, the rest not between them")
text = open("bert-base.svg").read()
frames = [text[i:].split("</title>")[1].split("</g>")[0] for i in (m.start() for m in re.finditer('class="cluster"', text))]
names = [re.findall(r">([^<]*)</text>", f)[0] for f in frames]
if "self" not in names or "key" in names or "query" in names:
    sys.exit(f"frames are {names}")
for word in ("input, weight, output", "operation made of several", "1 MFLOP and more"):
    if not place("bert-base.svg", word):
        sys.exit(f"no legend: {word}")
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

# A picture that takes long says so, ends with the process, and leaves nothing; one that nobody could wait for is refused.
mkdir slow
printf '#!/bin/sh\nexec sleep 60.5\n' >slow/dot
chmod +x slow/dot
mkdir left
TMPDIR=$dir/left PATH=$dir/slow:$PATH "$TESSERA" show bert-tiny --svg never.svg 2>/dev/null &
pid=$!
sleep 1
kill -TERM $pid
wait $pid
[ $? = 143 ] || wrong 'SIGTERM while drawing: not exit code 143'
sleep 0.2
pgrep -f 'sleep 60.5' >/dev/null && wrong 'dot goes on without us'
ls -A left >after
[ ! -s after ] || wrong "left behind: $(cat after)"
[ -e never.svg ] && wrong 'half a picture was written'
python3 - <<'PY'
import json
n = 2100
json.dump({"format": "graph/1", "name": "long", "opset": {"": 17}, "inputs": [{"name": "v0", "dtype": "f32", "shape": [2]}],
           "outputs": [{"name": f"v{n}"}],
           "nodes": [{"op": "Sin", "in": [f"v{i}"], "out": [f"v{i + 1}"]} for i in range(n)]}, open("long.json", "w"))
PY
expect 4 'show: a picture of 2101 boxes would take Graphviz very long; up to 2000 are drawn' show long.json --svg never.svg --whole
expect 4 'leave --whole and --expand out: recipes and equal layers are one box then' show long.json --svg never.svg --whole
expect 0 'wrote long.dot' show long.json --dot long.dot
"$TESSERA" show bert-tiny --dot - 2>err | grep -q '^digraph model' || wrong 'no text on standard output'
[ -s err ] && wrong "--dot - says more than the picture: $(cat err)"
env PATH=/nowhere "$TESSERA" show bert-tiny --svg never.svg 2>refusal
[ $? = 5 ] && grep -q 'install the package graphviz' refusal || wrong "without dot: $(cat refusal)"
[ -e never.svg ] && wrong 'something was written without dot'
finish
