#!/bin/sh
# Bad data, options and folders of training: each ends with its exit code and one message that names the value, the place and
# the remedy, and nothing is lost.
# ctest: Og
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
"${PYTHON:-python3}" "$SOURCE/tests/train/fixture.py" . || exit 77
"${PYTHON:-python3}" - <<'PY'
import json, numpy as np
x = np.random.default_rng(5).standard_normal((40, 6)).astype(np.float32)
y = (x[:, 0] > 0).astype(np.int64)
far = y.copy()
far[3] = 7
all = {"x": x, "y": y, "far": far, "double": x.astype(np.float64), "flat": x[:, 0], "narrow": x[:, :5].copy(), "y9": y[:9], "one": np.float32(3),
       "none": x[:0]}
for name, value in all.items(): np.save(name + ".npy", value)
open("cut.npy", "wb").write(open("x.npy", "rb").read()[:300])
model = json.load(open("model.json"))
old = open("weights.safetensors", "rb").read()
n = int.from_bytes(old[:8], "little")
header, data = json.loads(old[8:8 + n]), old[8 + n:]
for name, shape in (("w", (6, 2)), ("places", (6, 8))):
    header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + 4 * shape[0] * shape[1]]}
    data += np.full(shape, 0.1, np.float32).tobytes()
text = json.dumps(header).encode()
open("more.safetensors", "wb").write(len(text).to_bytes(8, "little") + text + data)
line = {"format": "graph/1", "name": "line", "opset": {"": 17}, "weights": {"file": "more.safetensors"},
        "inputs": [{"name": "x", "dtype": "f32", "shape": ["batch", 6]}], "outputs": [{"name": "y"}],
        "nodes": [{"op": "MatMul", "in": ["x", "w"], "out": ["y"]}]}
json.dump(line, open("line.json", "w"))
# the tiny model with six positions, of which it takes as many as there are tokens
model["weights"]["file"] = "more.safetensors"
model["constants"] = {"zero": {"dtype": "i64", "shape": [1], "data": [0]}, "one": {"dtype": "i64", "shape": [1], "data": [1]}}
model["nodes"][1]["in"][0] = "placed"
model["nodes"][1:1] = [{"op": "Shape", "in": ["input_ids"], "out": ["shape"], "attr": {"start": 1, "end": 2}},
                       {"op": "Slice", "in": ["places", "zero", "shape", "zero"], "out": ["some"]},
                       {"op": "Add", "in": ["rows", "some"], "out": ["placed"]}]
json.dump(model, open("six.json", "w"))
PY
train() { # CODE TEXT ARGUMENT...: with the tiny model, in a fresh folder
    code=$1 text=$2
    shift 2
    rm -rf fresh
    expect "$code" "$text" train model.json --tokenizer vocab.txt --length 12 --batch 4 --steps 2 --lr 0.1 -q -o fresh/run "$@"
    [ "$code" = 0 ] || [ ! -e fresh ] || wrong "a refused run leaves a folder: $*"
}

# data
printf 'a film\t1\na plot\t2\n' >label.tsv
train 3 'label.tsv:2: the label 2 is not in 0...1' --data label.tsv --labels 2
train 3 'or say --labels 3 or more' --data label.tsv --labels 2
printf 'a film\t0\na plot\t0\n' >alike.tsv
train 3 'alike.tsv:1: from here on all 2 labels are "0": there is nothing to learn' --data alike.tsv --batch 2 --labels 2
printf 'a film\tgood\n' >word.tsv
train 3 'word.tsv:1: the label "good" is not a number' --data word.tsv --task regress
printf 'a film\t0.5\n' >half.tsv
train 3 'half.tsv:1: the label 0.5 is not the number of a class' --data half.tsv
printf 'a film\t1\n\na plot\t0\n' >empty.tsv
train 3 'empty.tsv:2: an empty line' --data empty.tsv
train 3 "sed -i '2d'" --data empty.tsv
printf 'a film\n' >tab.tsv
train 3 'tab.tsv:1: there is no tab' --data tab.tsv
: >none.tsv
train 3 "'none.tsv' has no lines" --data none.tsv
train 8 "cannot open 'nowhere.tsv'" --data nowhere.tsv
# the mark that some editors put before UTF-8 is no text
cat >words.json <<'END'
{"pre_tokenizer":{"type":"WhitespaceSplit"},"model":{"type":"WordLevel","vocab":{"a":0,"film":1,"plot":2},"unk_token":"a"}}
END
printf 'film a\t1\nplot a\t0\n' >plain.tsv
printf '{"text":"film a","label":1}\n{"text":"plot a","label":0}\n' >plain.jsonl
for kind in tsv jsonl; do
    { printf '\357\273\277' && cat plain.$kind; } >mark.$kind
    for data in plain mark; do
        "$TESSERA" train model.json --tokenizer words.json --data $data.$kind --length 4 --batch 2 --steps 2 --lr 0.1 -q -o $data-$kind ||
            wrong "a .$kind with a mark before it is refused"
        "$TESSERA" export $data-$kind -q -o $data-$kind.onnx || wrong "no export"
    done
    cmp -s plain-$kind.onnx mark-$kind.onnx || wrong "the mark before a .$kind is part of its first text"
done
printf '{"text":"a film","label":1}\n{"text":1}\n' >rows.jsonl
train 3 'rows.jsonl:2: no member "text" that is text' --data rows.jsonl
printf '{"text":"a film","label":1}\n{"text"\n' >cut.jsonl
train 3 'cut.jsonl:2: not a JSON object' --data cut.jsonl
echo film the film a film story film was is a plot a film >text.txt
train 2 "'train.tsv' is not all of the data" --data train.tsv --data dev.tsv
head -2 train.tsv >two.tsv
train 3 '2 examples do not fill a batch of 4' --data two.tsv
expect 0 'texts of the training data are longer than 4 tokens and are cut, the first in line 1' train model.json --tokenizer \
    vocab.txt --data train.tsv --length 4 --labels 2 --steps 1 -o cut

train 3 "token 0 is 15, the model has 8" --data text.txt --task lm # of the words some have no logit

# columns and kinds of data
printf 'sentence\tstars\na film\t1\n' >head.tsv
train 3 'head.tsv:1: the label "stars" is not a number' --data head.tsv --task regress
printf 'a film\t1\na plot\t0\t\n' >columns.tsv
train 3 'columns.tsv:2: the label is missing' --data columns.tsv
printf 'a film\tnan\n' >nan.tsv
train 3 'nan.tsv:1: the label nan is not finite' --data nan.tsv
printf 'a film\t-1\n' >minus.tsv
train 3 'minus.tsv:1: the label -1 is not the number of a class' --data minus.tsv
printf 'a film\t0x1\n' >hex.tsv
train 3 'hex.tsv:1: the label "0x1" is not a number' --data hex.tsv --task regress
printf 'a film\t1\0\n' >nul.tsv
train 3 'nul.tsv:1:9: byte 0x00 is no text' --data nul.tsv
printf '{"sentence":"a film","label":1}\n' >member.jsonl
train 3 'member.jsonl:1: no member "text" that is text' --data member.jsonl
printf '{"text":"a film","label":"1"}\n' >quoted.jsonl
train 3 'quoted.jsonl:1: from here on all 1 labels are "1"' --data quoted.jsonl
train 2 'only arrays, NAME=FILE.npy, are given as several files' --data train.tsv --data dev.tsv

# tokenizers that are none, or of another kind, or another model's
mkdir kinds
printf '{"model":{"type":"Morse","vocab":[]}}' >kinds/morse.json
train 4 'tokens of the kind "Morse" are not supported' --data train.tsv --tokenizer kinds/morse.json
train 4 'supported are BPE, Unigram, WordLevel, WordPiece' --data train.tsv --tokenizer kinds/morse.json
printf 'hello\n' >kinds/words.txt
train 3 'the vocabulary lacks the token for unknown words, "[UNK]"' --data train.tsv --tokenizer kinds/words.txt
train 8 "cannot open 'kinds/none.txt'" --data train.tsv --tokenizer kinds/none.txt
train 8 'a tokenizer.json' --data train.tsv --tokenizer kinds/none.txt
train 8 "the folder 'kinds' has no tokenizer.json and no vocab.txt" --data train.tsv --tokenizer kinds
train 3 'train.tsv:1: token 1' --data train.tsv --tokenizer bytes
train 3 '--tokenizer must name the one that the model was trained with' --data train.tsv --tokenizer bytes

mkfifo pipe.tsv
train 8 "cannot read 'pipe.tsv': it is a pipe or a device" --data pipe.tsv
train 8 'write what comes out of it into a file' --data pipe.tsv

# before the mean of no tokens, 0 / 0, is learnt from
printf 'a film\t1\n\t0\n' >mute.tsv
expect 3 'mute.tsv:2: the text is empty' train bert-tiny --data mute.tsv --tokenizer bytes --length 12 --batch 2 --steps 2 -q -o fresh

# a built-in model lies nowhere: the vocabulary in this folder is another model's
expect 2 'no tokenizer is there to number it' train bert-tiny --data train.tsv --length 12 --batch 2 --steps 2 -q -o fresh

# numbers of steps, classes, tokens
train 2 '--steps "0": must be a whole number from 1' --data train.tsv --steps 0
train 2 '--batch "0": must be a whole number from 1' --data train.tsv --batch 0
train 2 '--length "0": must be a whole number from 2' --data train.tsv --length 0
train 3 '320 examples do not fill a batch of 400' --data train.tsv --batch 400
train 3 'say --batch 320, or give more data' --data train.tsv --batch 400
train 3 'the output has 8 columns, --labels is 2' --data train.tsv --labels 2 --head none
expect 3 'say --length 6; longer texts are cut then, and counted' train six.json --tokenizer vocab.txt --data train.tsv -o fresh
expect 3 '--length 64: the model has positions for 6 tokens' train six.json --tokenizer vocab.txt --data train.tsv -o fresh
"$TESSERA" train six.json --tokenizer vocab.txt --data train.tsv --length 6 --batch 8 --steps 2 -o six 2>six.err || wrong "six tokens do not do" "$(cat six.err)"
[ "$(grep -c 'longer than 6 tokens and are cut' six.err)" = 1 ] || wrong "cut texts are not told of once" "$(cat six.err)"

# a model with the extents of its example: training says which, and what is judged may be fewer and shorter
sed -e 's/"batch"/4/g' -e 's/"seq"/12/g' model.json >fixed.json
expect 3 '--batch 8: input "input_ids" of the model takes 4 examples at once' train fixed.json --tokenizer vocab.txt --data train.tsv \
    --length 12 --batch 8 -o fresh
expect 3 'say --batch 4, or export' train fixed.json --tokenizer vocab.txt --data train.tsv --length 12 --batch 8 -o fresh
expect 3 '--length 64: input "input_ids" of the model takes 12 tokens' train fixed.json --tokenizer vocab.txt --data train.tsv --batch 4 -o fresh
"$TESSERA" train fixed.json --tokenizer vocab.txt --data train.tsv --length 12 --batch 4 --steps 2 -q -o fixed || wrong "fixed extents do not do"
head -3 dev.tsv >three.tsv
expect 0 '3 examples' eval fixed --data three.tsv
expect 0 'film' predict fixed --text film

# arrays
arrays() { # CODE TEXT ARGUMENT...
    code=$1 text=$2
    shift 2
    rm -rf fresh
    expect "$code" "$text" train line.json --head none --batch 4 --steps 2 -q -o fresh "$@"
    [ ! -e fresh ] || wrong "a refused run leaves a folder: $*"
}
arrays 2 'there is no array of labels among the data' --data x=x.npy
arrays 2 'there is no array of labels among the data' --data x=x.npy --data label=y.npy --eval x=x.npy
arrays 2 'the model has no input "z"' --data x=x.npy --data z=x.npy --data label=y.npy
arrays 2 'its inputs are x; label gives the labels' --data x=x.npy --data z=x.npy --data label=y.npy
arrays 2 '"x" is given twice' --data x=x.npy --data x=x.npy --data label=y.npy
arrays 2 'no array for input "x" of the model' --data label=y.npy
arrays 3 'array "x" is f64 of rank 2, the model' --data x=double.npy --data label=y.npy
arrays 3 'array "x" is f32 of rank 1, the model' --data x=flat.npy --data label=y.npy
arrays 3 'dimension 1 is 5 in the value given, 6 in the model' --data x=narrow.npy --data label=y.npy
arrays 3 "'y9.npy' has 9 examples, \"x\" has 40" --data x=x.npy --data label=y9.npy
arrays 3 'the labels have rank 2: one number an example' --data x=x.npy --data label=x.npy
arrays 3 'the array of labels:3: the label 7 is not in 0...1' --data x=x.npy --data label=far.npy --labels 2
arrays 3 '--head none: the data has labels up to 7, the output 2 columns' --data x=x.npy --data label=far.npy
arrays 3 'cut.npy: N006' --data x=cut.npy --data label=y.npy
arrays 3 "'one.npy' is one number" --data x=one.npy --data label=y.npy
arrays 3 "'none.npy' is f32[0" --data x=none.npy --data label=none.npy
arrays 2 '--task pairs is for texts' --data x=x.npy --data label=y.npy --task pairs
arrays 2 "'dev.tsv' is no array, and the training data is arrays" --data x=x.npy --data label=y.npy --eval dev.tsv
train 2 "'x=x.npy' is an array, and the training data is text" --data train.tsv --eval x=x.npy

# order and head
printf '0 1 2 3\n0 1 2\n' >short.txt
train 3 'short.txt:2: 3 examples, --batch is 4' --data train.tsv --order short.txt
printf '0 1 2 99999\n' >far.txt
train 3 'far.txt:1: "99999" is no number of an example' --data train.tsv --order far.txt
printf '0 1 2 3\n4 5 6 7\n8 9 10 11\n' >three.txt
train 3 "'three.txt' has 3 batches, and 4 steps take 4" --data train.tsv --order three.txt --steps 4
train 3 "'three.txt' has 3 batches, and 2 steps take 4" --data train.tsv --order three.txt --steps 2 --accumulate 2
train 3 'the output "total" has rank 0' --data train.tsv --output total
train 2 'the model has no output "hiden"' --data train.tsv --output hiden
train 2 'its outputs are hidden, total' --data train.tsv --output hiden
train 3 'there is no tensor "head.weight"' --data train.tsv --labels 2 --head weights.safetensors

# options
train 2 'none of the 5 parameters' --data train.tsv --freeze dense.wieght --resume
train 2 "--freeze 'dense.wieght' matches none of the 5 parameters" --data train.tsv --freeze dense.wieght
train 2 'the nearest is dense.weight' --data train.tsv --freeze dense.wieght
train 2 'the nearest are dense.bias, head.bias' --data train.tsv --no-decay '*.bais'
train 2 'the nearest are dense.weight, dense.bias' --data train.tsv --freeze 'dnse.*'
train 2 'there is nothing to train' --data train.tsv --freeze '*'
train 2 '--lr "fast": must be a number' --data train.tsv --lr fast
train 2 'train: --data is missing'
expect 2 'train: --out is missing' train model.json --data train.tsv

# a run that exists, another model, other data, other options
set -- model.json --tokenizer vocab.txt --data train.tsv --labels 2 --length 12 --batch 4 --lr 0.1 -q -o run
"$TESSERA" train "$@" --steps 3 || wrong "a run of three steps fails"
expect 2 "'run' holds a run already" train "$@" --steps 3
expect 2 'tessera train --resume run goes on with it' train "$@" --steps 3
expect 3 'the run began with --lr 0.1, not 0.2' train "$@" --steps 3 --resume --lr 0.2
expect 2 '--lr was settled when the run began' train --resume run --lr 0.2
expect 2 "'dev.tsv' holds no run to go on with" train --resume dev.tsv
cp train.tsv saved.tsv
sed -i 1d train.tsv
expect 3 "the training data is not the one that the run in 'run' began with" train --resume run
cp saved.tsv train.tsv
cp model.json saved.json
sed -i 's/"tiny"/"other"/' model.json
expect 3 "the model's file is not the one that the run in 'run' began with" train --resume run
cp saved.json model.json
cp weights.safetensors saved.safetensors
printf '\377' | dd of=weights.safetensors bs=1 seek=900 conv=notrunc 2>/dev/null
expect 3 "the file of numbers beside the model is not the one that the run in 'run' began with" train --resume run
cp saved.safetensors weights.safetensors
cp vocab.txt saved.txt
sed -i 's/^film$/movie/' vocab.txt
expect 3 "the tokenizer is not the one that the run in 'run' began with" train --resume run
cp saved.txt vocab.txt
expect 3 'the run began with --data train.tsv, not train.tsv dev.tsv' train "$@" --steps 3 --resume --data dev.tsv
expect 3 'the run began with --data train.tsv, which is not given' train model.json --resume -o run
expect 3 'tessera train --resume run goes on as it began' train model.json --resume -o run
expect 0 'the run is through: 3 steps of 3 are done; --steps 83 goes further' train --resume run

# checkpoints
sed -i 's,checkpoint/1,checkpoint/2,' run/checkpoints/step-00000003/state.json
expect 4 'is of the format checkpoint/2; this program reads checkpoint/1' eval run --data dev.tsv
sed -i 's,checkpoint/2,checkpoint/1,' run/checkpoints/step-00000003/state.json
expect 0 '40 examples' eval run --data dev.tsv
sed -i 's/"step":3/"step":9/' run/checkpoints/step-00000003/state.json
expect 3 'is damaged: its bytes are not those that were saved' eval run --data dev.tsv
expect 8 'holds no run: there is no run.json' eval dev.tsv --data dev.tsv
expect 2 'eval: --data is missing' eval run
expect 2 'predict: there is no text' predict run

# a disk that fills up: nothing that was there is lost
rm -rf full && mkdir full
(ulimit -f 8 && exec "$TESSERA" train model.json --tokenizer vocab.txt --data train.tsv --labels 2 --length 12 --batch 4 \
    --steps 60 --save-every 60 --lr 0.1 -q -o full) 2>full.err
[ $? = 8 ] || wrong "a full disk does not end with 8" "$(cat full.err)"
grep -q "cannot write" full.err || wrong "a full disk is not named" "$(cat full.err)"
"$TESSERA" train --resume full -q || wrong "a run does not go on after a full disk"
once() { # CODE TEXT ARGUMENT...: a run that begins, and so cannot be tried again in the same folder
    code=$1 text=$2
    shift 2
    "$TESSERA" train model.json --tokenizer vocab.txt --data train.tsv --labels 2 --length 12 --batch 4 -q "$@" 2>once.err
    [ $? = "$code" ] || wrong "train $*: not $code" "$(cat once.err)"
    grep -qF "$text" once.err || wrong "train $*: nowhere $text" "$(cat once.err)"
}
once 8 "cannot write '/dev/full'" --steps 2 --lr 0.1 -o norms --grad-norms /dev/full

# two processes in one folder
(flock 9 && expect 8 'another process trains in' train --resume full && exit "$failed") 9>full/lock || failed=$((failed + 1))
finish
