#!/bin/sh
# Options of a training step, each against what it must do to the numbers of a tiny model.
# ctest: Og
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
"${PYTHON:-python3}" "$SOURCE/tests/train/fixture.py" . || exit 77
train() { # RUN ARGUMENT...
    run=$1
    shift
    "$TESSERA" train model.json --tokenizer vocab.txt --data train.tsv --labels 2 --length 12 -q -o "$run" "$@" ||
        wrong "train $* fails"
    checked=$((checked + 1))
}
cat >lib.py <<'PY'
import glob, json, struct, numpy as np
def rows(run): return [r for r in map(json.loads, open(f"{run}/metrics.jsonl")) if "loss" in r]
def tensors(path):
    data = open(path, "rb").read()
    n = struct.unpack("<Q", data[:8])[0]
    types = {"F32": np.float32, "F64": np.float64}
    return {k: np.frombuffer(data[8 + n + v["data_offsets"][0]:8 + n + v["data_offsets"][1]], types[v["dtype"]]).reshape(v["shape"])
            for k, v in json.loads(data[8:8 + n]).items() if k != "__metadata__"}
def saved(run, what="weights", step=-1): return tensors(sorted(glob.glob(f"{run}/checkpoints/step-*"))[step] + f"/{what}.safetensors")
first = tensors("weights.safetensors")
PY
holds() { later "$2" "$1"; }

# every optimizer learns, and goes on to the same bits
for each in adamw:0.05 adam:0.05 sgd:0.3 lion:0.02 adafactor:0.05; do
    name=${each%:*}
    set -- --lr "${each#*:}" --total-steps 120 --warmup 9 --batch 8 --clip 0 --optimizer "$name"
    [ "$name" != sgd ] || set -- "$@" --momentum 0.9
    train "$name" "$@" --steps 120
    holds "r = [x['loss'] for x in rows('$name')]; assert np.mean(r[-9:]) < 0.35 < r[0], r" "$name does not learn"
    train "$name.parts" "$@" --steps 50
    train "$name.parts" "$@" --steps 120 --resume
    cmp "$name/checkpoints/step-00000120/optimizer.safetensors" "$name.parts/checkpoints/step-00000120/optimizer.safetensors" ||
        wrong "$name goes on to other bits"
done
expect 2 'there is no optimizer "adamv"' train model.json --tokenizer vocab.txt --data train.tsv --optimizer adamv -o none
expect 2 'did you mean adam or adamw?' train model.json --tokenizer vocab.txt --data train.tsv --optimizer adamv -o none
expect 2 '--momentum: adamw has no such setting' train model.json --tokenizer vocab.txt --data train.tsv --momentum 0.9 -o none
expect 2 'its own are --weight-decay, --beta1, --beta2, --eps' train model.json --tokenizer vocab.txt --data train.tsv --momentum 0.9 -o none
expect 2 '--beta1: sgd has no such setting' train model.json --tokenizer vocab.txt --data train.tsv --optimizer sgd --beta1 0.9 -o none
expect 2 '--nesterov: adam has no such setting' train model.json --tokenizer vocab.txt --data train.tsv --optimizer adam --nesterov -o none
# what no step can work with is said before the first one
set -- train model.json --tokenizer vocab.txt --data train.tsv --batch 8 --steps 2 -o none
expect 2 '--beta1 1: must be at least 0 and below 1' "$@" --beta1 1
expect 2 '--beta2 1: must be at least 0 and below 1' "$@" --optimizer adam --beta2 1
expect 2 '--eps 0: must be at least 1.18e-38' "$@" --eps 0
expect 2 '--eps 1e-60: must be at least 1.18e-38' "$@" --optimizer adafactor --eps 1e-60
train edge --batch 8 --steps 2 --beta1 0 --beta2 0 --eps 1.2e-38
set -- --steps 1 --batch 8 --lr 0.5 --warmup 0 --schedule constant --clip 0 --optimizer sgd --momentum 0.9
train level "$@"
train ahead "$@" --nesterov
holds "a, b = first['table'] - saved('level')['table'], first['table'] - saved('ahead')['table']
assert np.abs(a).max() > 1e-3 and np.allclose(b, 1.9 * a, rtol=0, atol=1e-6), (a, b)" "--nesterov: the first step is not 1 + 0.9 gradients"
expect 2 '--nesterov goes with --momentum' train model.json --tokenizer vocab.txt --data train.tsv --optimizer sgd --nesterov -o none

# by default biases do not decay; --no-decay none leaves out nothing
set -- --steps 1 --batch 8 --lr 0.1 --warmup 0 --schedule constant --weight-decay 0.5
train kept "$@"
train decayed "$@" --no-decay none
holds "a, b = saved('kept'), saved('decayed')
assert np.array_equal(a['table'], b['table'])
assert np.allclose(a['dense.bias'] - b['dense.bias'], 0.1 * 0.5 * first['dense.bias'], rtol=1e-5, atol=1e-7)" \
    "--no-decay none does not let biases decay"

# label smoothing: the first loss is the mean of that of the label and that of all classes
train plain --steps 1 --batch 8 --lr 0.1
train smooth --steps 1 --batch 8 --lr 0.1 --label-smoothing 1
holds "a, b = rows('plain')[0]['loss'], rows('smooth')[0]['loss']; assert a != b and b >= np.log(2) - 1e-6, (a, b)" \
    "smoothing all of a label is no loss over all classes"
expect 2 '--label-smoothing: --task regress has no classes' train model.json --tokenizer vocab.txt --data train.tsv \
    --task regress --label-smoothing 0.1 -o none

# four batches of 8 are one of 32
seq 0 127 | awk '{ printf "%s%s", $1, NR % 32 ? " " : "\n" }' >wide.txt
seq 0 127 | awk '{ printf "%s%s", $1, NR % 8 ? " " : "\n" }' >narrow.txt
train wide --batch 32 --order wide.txt --lr 0.1
train narrow --batch 8 --order narrow.txt --accumulate 4 --lr 0.1
holds "a, b = rows('wide'), rows('narrow')
assert len(a) == len(b) == 4, (len(a), len(b))
for x, y in zip(a, b): assert abs(x['loss'] / y['loss'] - 1) < 1e-5 and abs(x['grad_norm'] / y['grad_norm'] - 1) < 1e-5, (x, y)
u, v = saved('wide'), saved('narrow')
for k in u: assert np.abs(u[k] - v[k]).max() < 1e-4, k" "accumulated batches are another step than one batch"

# averages: keep a share, add the rest; they are what is judged
train average --steps 3 --batch 8 --lr 0.1 --ema 0.75 --save-every 1 --keep 10
holds "a = first['dense.weight'].astype(float)
for i in range(3): a = 0.75 * a + 0.25 * saved('average', step=i)['dense.weight']
assert np.abs(saved('average', 'optimizer')['dense.weight.average'] - a).max() < 1e-6" "the average is another one"
expect 0 'average.onnx' export average -o average.onnx
holds "assert saved('average', 'optimizer')['dense.weight.average'].tobytes() in open('average.onnx', 'rb').read()" \
    "the average is not what is exported"

# factors: the matrix stays, its factors and the head are trained, and the exported matrix is their sum
train factors --steps 30 --batch 8 --lr 0.1 --lora 2 --on 'dense*'
holds "s = saved('factors')
assert sorted(s) == ['dense.weight.lora_a', 'dense.weight.lora_b', 'head.bias', 'head.weight'], sorted(s)
assert rows('factors')[-1]['loss'] < rows('factors')[0]['loss']" "factors are another set"
expect 0 'factors.onnx' export factors -o factors.onnx
"${PYTHON:-python3}" - <<'PY' || wrong "the exported matrix is not the merged one"
from lib import *
s = saved("factors")
data, want = open("factors.onnx", "rb").read(), first["dense.weight"] + s["dense.weight.lora_a"] @ s["dense.weight.lora_b"]
np.seterr(all="ignore")
found = [i for i in range(len(data) - want.nbytes + 1) if np.abs(np.frombuffer(data[i:i + want.nbytes], "<f4") - want.ravel()).max() < 1e-6]
assert len(found) == 1 and b"lora" not in data, found
PY
expect 0 'examples' eval factors --data dev.tsv
"$TESSERA" predict factors --text 'a superb film' --json >predicted.json || wrong "predict with factors fails"
"${PYTHON:-python3}" - <<'PY' || wrong "another runtime says something else of the merged model"
import json, numpy as np
try:
    import onnxruntime
except ImportError:
    raise SystemExit(0)
words = open("vocab.txt").read().split("\n")
ids = np.array([[words.index(w) for w in "[CLS] a superb film [SEP]".split()]])
got = onnxruntime.InferenceSession("factors.onnx").run(["logits"], {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0]
want = json.load(open("predicted.json"))["predictions"][0]
p = np.exp(got[0] - got[0].max())
assert abs(p[want["label"]] / p.sum() - want["probability"]) < 1e-4, (got, want)
PY
expect 2 'nothing says which weights get factors' train model.json --tokenizer vocab.txt --data train.tsv --lora 2 -o none
expect 2 '--on goes with --lora' train model.json --tokenizer vocab.txt --data train.tsv --on '*' -o none
expect 2 "--on 'dens' matches none" train model.json --tokenizer vocab.txt --data train.tsv --lora 2 --on dens -o none
expect 2 '--lora 9: none of the weights of --on' train model.json --tokenizer vocab.txt --data train.tsv --lora 9 --on 'dense*' \
    -o none

# dropout: another loss than without, the same one again, and none of it when judged
train thin --steps 3 --batch 8 --lr 0.1 --dropout 0.5
train thin.again --steps 3 --batch 8 --lr 0.1 --dropout 0.5
holds "a, b, c = rows('thin'), rows('thin.again'), rows('plain')
assert [x['loss'] for x in a] == [x['loss'] for x in b] and a[0]['loss'] != c[0]['loss']" "dropout is none, or not a function of the seed"
"$TESSERA" eval thin --data dev.tsv --json >a.json && "$TESSERA" eval thin --data dev.tsv --json >b.json && cmp -s a.json b.json ||
    wrong "a trained model is judged with dropout"
expect 2 '--dropout 0.5: there is no head' train model.json --tokenizer vocab.txt --data train.tsv --task lm --dropout 0.5 -o none

# frozen and undecayed parameters
train frozen --steps 3 --batch 8 --lr 0.1 --freeze 'dense*' --freeze table
holds "assert sorted(saved('frozen')) == ['head.bias', 'head.weight']" "frozen parameters are trained"
train decay --steps 1 --batch 8 --lr 0.1 --optimizer sgd --schedule constant --warmup 0 --clip 0 --weight-decay 0 --order narrow.txt
train all --steps 1 --batch 8 --lr 0.1 --optimizer sgd --schedule constant --warmup 0 --clip 0 --weight-decay 0.5 \
    --no-decay table --no-decay 'head*' --order narrow.txt
holds "a, b = saved('decay'), saved('all')
for k in a:
    want = a[k] - (0.1 * 0.5 * first[k] if k.startswith('dense') else 0)
    assert np.abs(b[k] - want).max() < 1e-6, k" "decay touches other parameters"
train usual --steps 1 --batch 8 --lr 0.1 --optimizer sgd --schedule constant --warmup 0 --clip 0 --weight-decay 0.5 \
    --order narrow.txt
holds "a, b = saved('decay'), saved('usual')
assert a['dense.bias'].tobytes() == b['dense.bias'].tobytes()
for k in 'dense.weight', 'table': assert np.abs(b[k] - a[k] + 0.05 * first[k]).max() < 1e-6, k" "a bias decays, or a matrix does not"

# memory: what a step takes is near what it needs, and is told; the moments of what is frozen are none of it
expect 0 'a step needs 0.0 MiB (weights, gradients, optimizer state, activations); no order of its work needs less, only values computed again' train model.json --tokenizer vocab.txt \
    --data train.tsv --labels 2 --length 12 --dry-run -o none

# precision: halves follow f32 as far as their digits go; f16 finds its scale, leaves out steps that overflow, and keeps
# scale and count in its checkpoints
set -- --steps 40 --batch 8 --lr 0.05
train exact "$@"
train bf16 "$@" --precision bf16
train f16 "$@" --precision f16 --loss-scale 1e9 --growth-interval 3
holds "exact, b = rows('exact'), rows('bf16')
away = [abs(x['loss'] / y['loss'] - 1) for x, y in zip(exact, b)]
assert len(b) == 40 and 1e-5 < max(away) < 40 * 2**-8, away
assert all('scale' not in x for x in exact + b)
assert all(v.dtype == np.float32 for v in saved('bf16').values())" "bf16 is f32, or far from it"
holds "f = rows('f16')
left = [x.get('skipped', False) for x in f]
assert left[0] and not left[-1] and 5 < sum(left) < 35, left
good, scale = 0, 1e9
for x in f:
    assert abs(x['scale'] / scale - 1) < 1e-6, (x, scale)
    good = 0 if x.get('skipped') else good + 1
    if x.get('skipped'): scale /= 2
    elif good == 3: scale, good = scale * 2, 0
o = saved('f16', 'optimizer')
assert o['train.scale'] == np.float32(scale) and o['train.scale_steps'] == good, (o['train.scale'], scale)" "f16 has another scale"
train usual.f16 "$@" --precision f16
holds "exact, f = rows('exact'), rows('usual.f16')
assert not any(x.get('skipped') for x in f) and max(abs(x['loss'] / y['loss'] - 1) for x, y in zip(exact, f)) < 40 * 2**-11" \
    "f16 is far from f32"
train f16.parts --steps 17 --batch 8 --lr 0.05 --total-steps 40 --precision f16 --loss-scale 1e9 --growth-interval 3
train f16.parts --steps 40 --batch 8 --lr 0.05 --total-steps 40 --precision f16 --loss-scale 1e9 --growth-interval 3 --resume
cmp f16/checkpoints/step-00000040/optimizer.safetensors f16.parts/checkpoints/step-00000040/optimizer.safetensors ||
    wrong "f16 goes on to other bits"
expect 2 'must be one of f32|bf16|f16' train model.json --tokenizer vocab.txt --data train.tsv --precision f8 -o none
# what would change nothing is a mistake and leaves no run
set -- train model.json --tokenizer vocab.txt --data train.tsv --length 12 --batch 8 --steps 1 -o mistaken
expect 2 '--ema 1 keeps the weights of the beginning' "$@" --ema 1
expect 2 '--labels: --task pairs has no classes of the data' "$@" --task pairs --labels 2
expect 2 '--head: --loss total has no head' "$@" --loss total --head none
expect 2 '--pool: --task lm makes no one vector' "$@" --task lm --pool cls
expect 2 '--growth-interval: --precision f32 has no loss scale' "$@" --growth-interval 3
expect 2 'leave it out, or say --precision f16' "$@" --precision bf16 --loss-scale 8
expect 2 '--task lm is for texts' train model.json --task lm --data input_ids=ids.npy -o mistaken
expect 8 '--head takes a .safetensors file' "$@" --head nowhere.safetensors
expect 8 'the folder no/ is not there: make it first' "$@" --grad-norms no/norms
expect 3 '--length says that already: leave --dim seq=9 out' "$@" --dim seq=9
expect 2 '--dim seq=1..9 is a range, and all steps of a run have one extent' "$@" --dim seq=1..9
expect 2 'give it one: --dim seq=N' "$@" --dim seq=1..9
expect 3 '--batch says that already: leave --dim batch=9 out' "$@" --dim batch=9
expect 3 '--length says that already: leave --dim seq=1 out' "$@" --dim seq=1
[ ! -e mistaken ] || wrong "a refused run leaves a folder"


# a run that began when such options were passed over goes on; a dry run says how, and leaves it as it is
"$TESSERA" train model.json --tokenizer vocab.txt --data train.tsv --loss total --length 12 --batch 8 --steps 1 \
    --total-steps 2 -q -o old || wrong "train --loss fails"
edited() { # STATEMENT: of the run's settings
    "${PYTHON:-python3}" - "$1" <<'PY'
import hashlib, json, sys
run = json.load(open("old/run.json"))
del run["sha256"]
exec(sys.argv[1])
text = json.dumps(run)[:-1] + ',"sha256":"'
open("old/run.json", "w").write(text + hashlib.sha256(text.encode()).hexdigest() + '"}\n')
PY
}
edited 'run["config"].update({"labels": 2, "head": "none", "pool": "cls", "growth-interval": 3})'
cp old/run.json before.json
expect 0 '2 steps of 8' train --resume old --steps 2 --dry-run
cmp before.json old/run.json || wrong "a dry run changes the run"
expect 0 'step     2/2' train --resume old --steps 2
expect 0 'examples' eval old --data dev.tsv

# one that drew its random numbers by another generator can be used, and cannot go on
edited 'del run["random"]'
expect 4 "the run in 'old' drew other random numbers than this Tessera does" train --resume old --steps 3
expect 0 'examples' eval old --data dev.tsv
finish
