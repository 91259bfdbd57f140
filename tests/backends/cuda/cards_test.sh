#!/bin/sh
# cards_test.sh - shards on cards: one, two, four or eight of them end with the same bits, with NCCL between them, by way of
# the host without it and of several processes, each on a card of its own, and when a run goes on with another number; of a
# step batches go to the cards and losses come back, whatever weights there are; so do the shards of a pass. On the
# stand-ins for the driver and for NCCL.
# ctest: drivers timeout=900
. "$SOURCE/tests/cli/expect.sh"
. "$SOURCE/tests/backends/cuda/stand_in.sh"
export SIMCUDA_DEVICES=8 TESSERA_CUDA="$TESSERA_CUDA,nccl=$BUILD/tests/gpusim/libnccl.so.2"
cd "$dir" || exit 1
"${PYTHON:-python3}" "$SOURCE/tests/train/fixture.py" . || exit 77
"${PYTHON:-python3}" - <<'PY'
import json, numpy as np
x = np.ones((8, 6), np.float32)
x[5, 4] = np.nan
np.save("nan.npy", x), np.save("nan-y.npy", np.arange(8) % 2)
header = json.dumps({"w": {"dtype": "F32", "shape": [6, 2], "data_offsets": [0, 48]}}).encode()
open("nan.safetensors", "wb").write(len(header).to_bytes(8, "little") + header + np.eye(6, 2, dtype=np.float32).tobytes())
json.dump({"format": "graph/1", "name": "line", "opset": {"": 17}, "weights": {"file": "nan.safetensors"},
           "inputs": [{"name": "x", "dtype": "f32", "shape": ["batch", 6]}], "outputs": [{"name": "y"}],
           "nodes": [{"op": "MatMul", "in": ["x", "w"], "out": ["y"]}]}, open("nan.json", "w"))
PY
four=cuda:0,cuda:1,cuda:2,cuda:3 eight=$four,cuda:4,cuda:5,cuda:6,cuda:7
by= # what starts it
train() { # FOLDER TARGET ARGUMENT...
    checked=$((checked + 1))
    folder=$1 target=$2
    shift 2
    SIMCUDA_COPIES=copies.$folder SIMNCCL_SENT=sent.$folder $by "$TESSERA" train model.json --tokenizer vocab.txt --data train.tsv \
        --labels 2 --length 12 --batch 16 --shards 8 --lr 0.1 --ema 0.9 --dropout 0.1 "$@" --target "$target" -o "$folder" >said 2>&1 ||
        wrong "$* on $target: $(cat said)"
}
same() { # A B STEPS: weights, what the optimizer keeps, and every loss and norm
    for f in weights optimizer; do
        cmp -s "$1/checkpoints/step-0000000$3/$f.safetensors" "$2/checkpoints/step-0000000$3/$f.safetensors" || wrong "$2: other $f than $1"
    done
    for run in "$1" "$2"; do sed 's/,"ms".*//' "$run/metrics.jsonl" >"$run.rows"; done
    cmp -s "$1.rows" "$2.rows" || wrong "$2: other losses or norms than $1" "$(diff "$1.rows" "$2.rows" | head -4)"
}
train one cuda --steps 5 -q
for n in 2 4 8; do
    train cards$n "$(echo $eight | cut -d, -f1-$n)" --steps 5 -q
    same one cards$n 5
done
for on in cuda cuda:0,cuda:1; do # each parameter's norm, where it is asked for; a loss that is none
    train norms-$on $on --steps 1 --total-steps 5 --grad-norms grad.$on -q
    "$TESSERA" train nan.json --data x=nan.npy --data label=nan-y.npy --head none --batch 8 --steps 1 --shards 8 --target $on -q -o nan-$on 2>said
    [ $? = 10 ] && grep -q 'the gradient of w is not finite; the loss of shard [0-7] of 8 is the first that is not finite' said ||
        wrong "no number on $on" "$(cat said)"
done
cmp grad.cuda grad.cuda:0,cuda:1 || wrong "two cards tell other norms of parameters than one"
train on cuda:0,cuda:1 --steps 3 --total-steps 5 -q
"$TESSERA" train --resume on --steps 4 --target $four -q && "$TESSERA" train --resume on --steps 5 --target cuda -q ||
    wrong "a run does not go on with other cards"
same one on 5

# one plan over several of a kind: its ledger names them, and what waits for what
echo '{ "format": "tiling/1", "rules": [ { "match": { "op": "sum" }, "place": "cuda:1" } ] }' >two.json
expect 0 'k1 transfer hidden  cuda:1/0  k0 (end)' explain model.json --target cuda:0 --dim batch=2 --dim seq=12 -s two.json --ledger
for on in "--target cuda -o there" "--target cuda:0 -s two.json -o apart"; do
    # shellcheck disable=SC2086
    expect 0 total run model.json --dim batch=2 --dim seq=12 --seed 1 $on
done
cmp there/total.npy apart/total.npy || wrong "a plan over two cards computes something else"

# what travels, of weights of two buckets, 640 kB
"${PYTHON:-python3}" - <<'PY'
import json, numpy as np
rng = np.random.default_rng(3)
x = rng.standard_normal((64, 2)).astype(np.float32)
np.save("x.npy", x), np.save("y.npy", (x.sum(1) > 0).astype(np.int64))
header, data = {}, b""
for name, of in {"a": (2, 40000), "b": (40000, 2)}.items():
    w = (rng.standard_normal(of) / of[0] ** 0.5).astype(np.float32).tobytes()
    header[name] = {"dtype": "F32", "shape": of, "data_offsets": [len(data), len(data) + len(w)]}
    data += w
header = json.dumps(header).encode()
open("wide.safetensors", "wb").write(len(header).to_bytes(8, "little") + header + data)
json.dump({"format": "graph/1", "name": "wide", "opset": {"": 17}, "weights": {"file": "wide.safetensors"},
           "inputs": [{"name": "x", "dtype": "f32", "shape": ["batch", 2]}], "outputs": [{"name": "y"}],
           "nodes": [{"op": "MatMul", "in": ["x", "a"], "out": ["h"]}, {"op": "MatMul", "in": ["h", "b"], "out": ["y"]}]},
          open("wide.json", "w"))
PY
for on in cuda $four; do
    expect 0 y run wide.json --dim batch=16 --seed 1 --shards 8 --target $on -o pass-$on
done
cmp pass-cuda/y.npy pass-$four/y.npy || wrong "four cards compute other shards of a pass than one"
for run in few:cuda:0,cuda:1:2 many:cuda:0,cuda:1:4 alone:cuda:4; do
    name=${run%%:*} steps=${run##*:} target=${run#*:}
    checked=$((checked + 1))
    SIMCUDA_COPIES=copies.$name SIMNCCL_SENT=sent.$name "$TESSERA" train wide.json --data x=x.npy --data label=y.npy --head none \
        --batch 8 --shards 8 --lr 0.01 --total-steps 4 --steps "$steps" -q --target "${target%:*}" -o "$name" >said 2>&1 ||
        wrong "$name: $(cat said)"
done
same alone many 4
"${PYTHON:-python3}" - <<'PY' || wrong "a step copies more than its batch, or cards send something else than pieces"
import json
few, many, sent, more = (json.load(open(n)) for n in ("copies.few", "copies.many", "sent.few", "sent.many"))
step = {k: (many[k] - few[k]) / 2 for k in few}
nccl = (more["bytes"] - sent["bytes"]) / 2
print(step, nccl)
# To the cards: of each of 8 shards an example of 2 f32, its label, its random number, whether it is added; each card's
# number of the step and factor. Back: losses and marks, of 2 cards squares of 4 slices and rates. Between them halves of
# gradients each way, then of weights: 160000 f32, and what fills slices.
raise SystemExit(not (step["pageable"] == 0 and 0 < step["bytes_to_device"] <= 8 * (8 + 8 + 8 + 1) + 2 * 12 and
                      0 < step["bytes_to_host"] <= 8 * (8 + 4 * 60) + 2 * 1000 and
                      4 * 2 * 160000 <= nccl <= 1.01 * 4 * 2 * 160000))
PY

# without NCCL: by way of the host, to the same bits, and it says so once
TESSERA_CUDA="driver=$sim,ptx,nccl=/nowhere/libnccl.so.2"
train host cuda:0,cuda:1 --steps 5
[ "$(grep -c 'cards exchange gradients by way of the host: there is no NCCL' said)" = 1 ] || wrong "it is not said that there is no NCCL" "$(cat said)"
same one host 5

# processes: those of one machine by way of the host, each with cards of its own, to the same bits
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
for mpi in openmpi:ompi-c mpich:mpich; do
    command -v "mpirun.${mpi%:*}" >/dev/null && [ -e "$(dirname "$TESSERA")/collective-${mpi#*:}.so" ] || continue
    by="timeout 120 mpirun.${mpi%:*} -n 2"
    train "${mpi%:*}" cuda --steps 5
    same one "${mpi%:*}" 5
    grep -q 'ranks compute: 0 on cuda:0, 1 on cuda:1$' said || wrong "$mpi: both ranks compute on one card of eight" "$(cat said)"
    SIMCUDA_DEVICES=1 train "${mpi%:*}-share" cuda --steps 1 --total-steps 5
    grep -q 'ranks compute: 0 on cuda:0, 1 on cuda:0$' said || wrong "$mpi: a card that is not here" "$(cat said)"
    $by "$TESSERA" bench wide.json --dim batch=2 --ranks --min-time 1ms --target cuda --json >said &&
        grep -q '"device":.*"cuda:1"' said || wrong "$mpi: a pass of two ranks keeps to one card of eight" "$(cat said)"
    train "${mpi%:*}-two" cuda:0,cuda:1 --steps 5 -q
    same one "${mpi%:*}-two" 5
done
finish
