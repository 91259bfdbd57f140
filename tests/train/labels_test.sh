#!/bin/sh
# Labelled texts as people have them: names of classes, a header, CSV and JSON Lines beside TSV; the same run comes of each. What
# is no text, has one class or is empty is refused with its line.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
"${PYTHON:-python3}" "$SOURCE/tests/train/fixture.py" . || exit 77
"${PYTHON:-python3}" - <<'PY'
import csv, json
for name in "train", "dev":
    rows = [line.rstrip("\n").split("\t") for line in open(name + ".tsv")]
    named = [(text.replace(" ", ", ", 1), "good" if y == "1" else "bad") for text, y in rows]
    open(name + ".named.tsv", "w").write("".join(f"{t}\t{y}\n" for t, y in named))
    open(name + ".head.tsv", "w").write("sentence\tlabel\n" + "".join(f"{t}\t{y}\n" for t, y in named))
    with open(name + ".csv", "w", encoding="utf-8-sig", newline="") as f:  # a BOM, quotes, \r\n
        csv.writer(f).writerows([("id", "review", "sentiment")] + [(i, t, y) for i, (t, y) in enumerate(named)])
    open(name + ".jsonl", "w").write("".join(json.dumps({"review": t, "sentiment": y}) + "\n" for t, y in named))
    open(name + ".number.tsv", "w").write("".join(f"{t}\t{int(y == 'good')}\n" for t, y in named))
PY
set -- model.json --tokenizer vocab.txt --length 12 --batch 8 --lr 0.05 --steps 60 -q
last=checkpoints/step-00000060/weights.safetensors
learn() { # RUN TRAIN EVAL OPTION...
    run=$1 train=$2 eval=$3
    shift 3
    "$TESSERA" train "$@" --data "$train" --eval "$eval" -o "$run" 2>err || wrong "$run fails" "$(cat err)"
}
learn number train.number.tsv dev.number.tsv "$@"
learn named train.named.tsv dev.named.tsv "$@"
learn head train.head.tsv dev.head.tsv "$@"
learn csv train.csv dev.csv "$@" --columns review,sentiment
learn json train.jsonl dev.jsonl "$@" --columns review,sentiment
for run in named head csv json; do
    cmp "number/$last" "$run/$last" || wrong "$run is another run than one of numbers"
done
# the reports speak of names, and of lines as an editor counts them
"${PYTHON:-python3}" - <<'PY' || wrong "mistakes are of other lines or names"
import csv, json
for run, shift in ("number", 0), ("named", 0), ("head", 1), ("csv", 1), ("json", 0):
    m = json.load(open(run + "/misjudged.json"))
    texts = [line.split("\t")[0] for line in open("dev.named.tsv")]
    assert m["worst"] and all(texts[w["line"] - 1 - shift] == w["text"] for w in m["worst"]), (run, m["worst"][:2])
    assert (m.get("names") == ["bad", "good"]) == (run != "number"), run
assert ">good<" in open("csv/report.html").read()
PY
# precision, recall, F1, of all and of each, as counted here from what predict says; probabilities of all classes
cut -f1 dev.named.tsv >texts
"$TESSERA" predict named --file texts --probabilities --json >said.json || wrong "predict fails"
"$TESSERA" predict named --file texts --probabilities >said.tsv
"$TESSERA" eval named --data dev.named.tsv --json >eval.json || wrong "eval fails"
expect 0 'F1' eval named --data dev.named.tsv
"${PYTHON:-python3}" - <<'PY' || wrong "other figures"
import json
said, is_ = json.load(open("said.json"))["predictions"], [line.rstrip("\n").split("\t")[1] for line in open("dev.named.tsv")]
lines = [line.rstrip("\n").split("\t") for line in open("said.tsv")]
assert lines[0] == ["label", "probability", "bad", "good", "text"], lines[0]
for one, line in zip(said, lines[1:]):
    p = one["probabilities"]
    assert list(p) == ["bad", "good"] and abs(sum(p.values()) - 1) < 1e-6 and abs(max(p.values()) - one["probability"]) < 1e-6, one
    assert p[one["label"]] == max(p.values()) and line[0] == one["label"] and line[-1] == one["text"], (one, line)
    assert abs(float(line[3]) - p["good"]) < 1e-4, line
e, ratio = json.load(open("eval.json")), lambda a, b: a / b if b else 0
want = {}
for c in "bad", "good":
    right = sum(a["label"] == b == c for a, b in zip(said, is_))
    have, told = is_.count(c), sum(a["label"] == c for a in said)
    want[c] = ratio(right, told), ratio(right, have), ratio(2 * right, have + told), have
got = {c["class"]: (c["precision"], c["recall"], c["f1"], c["examples"]) for c in e["classes"]}
print(want, got)
assert all(abs(a - b) < 1e-9 for c in want for a, b in zip(want[c], got[c]))
for i, name in enumerate(("precision", "recall", "f1")):
    assert abs(e[name] - sum(w[i] for w in want.values()) / 2) < 1e-9, name
row = [r for r in map(json.loads, open("named/metrics.jsonl")) if "eval_f1" in r][-1]
assert abs(row["eval_f1"] - e["f1"]) < 1e-9 and abs(row["eval_recall"] - e["recall"]) < 1e-9
PY
expect 0 'label	probability	text' predict number --text film
# texts over several lines, quotes in quotes, and where an editor finds what is wrong
printf 'text,label\n"a fine\nfilm, ""so"" good",good\nawful,bad\n"x",good\ny,bad\n' >lines.csv
expect 0 '' train model.json --tokenizer vocab.txt --length 12 --batch 4 --steps 1 --data lines.csv --eval lines.csv -o lines
grep -q '"text":	"a fine\\nfilm, \\"so\\" good"\|"line":	[45]' lines/misjudged.json || wrong "a quoted text is another" "$(cat lines/misjudged.json)"
data() { # TEXT CONTENT: refused, by the file's ending $kind
    printf "$2" >"bad.$kind"
    expect 3 "$1" train model.json --tokenizer vocab.txt --length 12 --batch 2 --steps 1 --data "bad.$kind" -o none
}
kind=csv
data 'bad.csv:2: the quote is not closed' 'text,label\n"a\n' 
data 'bad.csv:4: 3 columns, 2 expected' 'text,label\n"a\nb",x\nc,d,e\n'
data 'bad.csv:2: text behind a closing quote; write a quote' 'text,label\n"a"b,x\n'
data 'bad.csv:1: no column "text" among id, label, review' 'id,label,review\n1,x,y\n'
data 'bad.csv:2: the label is missing' 'text,label\na,\n'
data 'bad.csv:2: the text is empty' 'text,label\n" ",x\n'
data "'bad.csv' has no lines but a header" 'text,label\n'
data "bad.csv:1: the label \"sentiment\" stands in no other line: it looks like a header" \
    'review,sentiment\na,good\nb,bad\nc,good\nd,bad\n'
kind=tsv
data 'bad.tsv:2:4: byte 0xE9 is not UTF-8' 'a film\tgood\ncaf\351\tbad\n'
data 'iconv' 'a film\tgood\ncaf\351\tbad\n'
data 'bad.tsv:2:5: byte 0x00 is no text' 'a film\tgood\ncafe\000\tbad\n'
data 'bad.tsv:1: from here on all 2 labels are "good": there is nothing to learn' 'a film\tgood\na plot\tgood\n'
data 'bad.tsv:2: the text is empty' 'a film\tgood\n\tbad\n'
data 'bad.tsv:2: the label "bad" is not a number' 'a film\t1\na plot\tbad\n'
data 'the labels before it are' 'a film\t1\na plot\tbad\n'
kind=jsonl
data 'bad.jsonl:1: no member "label" that is a number or a name' '{"text":"a"}\n'
printf 'a film\tgood\na plot\tfine\n' >other.tsv
expect 3 'other.tsv:2: no class of the run is named "fine"' eval named --data other.tsv
expect 3 'its classes are "bad", "good"' eval named --data other.tsv
expect 3 'other.tsv:1: the label "good" is not a number' eval number --data other.tsv
expect 3 "has 2 classes, --labels is 1" train "$@" --data train.named.tsv --labels 1 -o none
expect 3 'text:1:4: byte 0xE9' predict named --text "$(printf 'caf\351')"
finish
