#!/bin/sh
# Bad data, options and folders of training: each ends with its exit code and one message that names the value, the place and
# the remedy, and nothing is lost.
# ctest: timeout=600
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
"${PYTHON:-python3}" "$SOURCE/tests/bench/train/fixture.py" . || exit 77
train() { # CODE TEXT ARGUMENT...: with the tiny model, in a fresh folder
    code=$1 text=$2
    shift 2
    rm -rf fresh
    expect "$code" "$text" train model.json --tokenizer vocab.txt --length 12 --batch 4 --steps 2 --lr 0.1 -q -o fresh "$@"
    [ "$code" = 0 ] || [ ! -e fresh/checkpoints ] || wrong "a refused run has checkpoints: $*"
}

# data
printf 'a film\t1\na plot\t2\n' >label.tsv
train 3 'label.tsv:2: the label 2 is not in 0...1' --data label.tsv --labels 2
train 3 'or say --labels 3 or more' --data label.tsv --labels 2
printf 'a film\tgood\n' >word.tsv
train 3 'word.tsv:1: the label "good" is not a number' --data word.tsv
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

# order and head
printf '0 1 2 3\n0 1 2\n' >short.txt
train 3 'short.txt:2: another number of examples than --batch (3)' --data train.tsv --order short.txt
printf '0 1 2 99999\n' >far.txt
train 3 'far.txt:1: no such example (99999)' --data train.tsv --order far.txt
train 3 'the output "total" has rank 0' --data train.tsv --output total
train 2 'the model has no output "hiden"' --data train.tsv --output hiden
train 2 'its outputs are hidden, total' --data train.tsv --output hiden
train 3 'there is no tensor "head.weight"' --data train.tsv --labels 2 --head weights.safetensors

# options
train 2 "--freeze 'dense.wieght' matches none of the 5 parameters" --data train.tsv --freeze dense.wieght
train 2 'the nearest is dense.weight' --data train.tsv --freeze dense.wieght
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
