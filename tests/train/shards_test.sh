#!/bin/sh
# A batch in shards: the bits are those of any number of threads and processes, with every MPI here, of PoCL beside c, and of a run that
# goes on with another number; what differs among ranks is refused by name; a rank that fails, dies, stops or meets a NaN is the
# end of all within 10 s, and the run goes on to the same bits.
# ctest: Og timeout=300
. "$SOURCE/tests/cli/expect.sh"
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" # MPI itself frees not all that it takes
cd "$dir" || exit 1
"${PYTHON:-python3}" "$SOURCE/tests/train/fixture.py" . || exit 77
head -40 train.tsv >dev.tsv
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none TESSERA
set -- model.json --tokenizer vocab.txt --labels 2 --length 12 --batch 16 --lr 0.1 --shards 8 --ema 0.9 \
    --dropout 0.1 --threads 1 --eval dev.tsv --eval-every 4 -q
last=checkpoints/step-00000012
same() { # A B: weights, what the optimizer keeps, every loss, norm and metric
    for f in weights optimizer; do cmp -s "$1/$last/$f.safetensors" "$2/$last/$f.safetensors" || wrong "$2: other $f than $1"; done
    for run in "$1" "$2"; do
        sed 's/,"ms".*//; /eval_loss/d' "$run/metrics.jsonl" >"$run.rows"
        grep eval_loss "$run/metrics.jsonl" >"$run.evals" # one more wherever a part of the run ended
    done
    cmp -s "$1.rows" "$2.rows" || wrong "$2: other losses or norms than $1" "$(diff "$1.rows" "$2.rows" | head -4)"
    grep -vxFf "$2.evals" "$1.evals" && wrong "$2: lacks a row of metrics of $1" "$(cat "$2.evals")"
    checked=$((checked + 1))
}

# ---- one process ----
"$TESSERA" train "$@" --data train.tsv --steps 12 -o one || wrong "shards do not train"
"$TESSERA" train "$@" --data train.tsv --steps 12 --threads 2 -o threads || wrong "shards do not train with two threads"
same one threads
"$TESSERA" train "$@" --data train.tsv --steps 12 --shards 1 -o whole || wrong "a whole batch does not train"
"$TESSERA" train "$@" --data train.tsv --steps 6 --accumulate 2 --total-steps 12 -o twice || wrong "shards of several batches do not train"
"${PYTHON:-python3}" - <<'PY' || wrong "shards compute something else than a whole batch"
import json
rows = {n: [json.loads(l) for l in open(n + "/metrics.jsonl")] for n in ("whole", "one", "twice")}
assert all(len([r for r in rows[n] if "eval_loss" in r]) >= 2 for n in rows), rows["twice"]
rows = {n: [r for r in rows[n] if "loss" in r] for n in rows}
for a, b in zip(rows["whole"], rows["one"]): # f32 sums of 16 examples in another order, over 12 steps
    for k in ("loss", "grad_norm", "lr"):
        assert abs(a[k] - b[k]) <= 1e-5 * abs(a[k]), (k, a, b)
both = (rows["whole"][0]["loss"], rows["twice"][0]["loss"])
assert len(rows["twice"]) == 6 and both[0] != both[1] and abs(both[0] - both[1]) < 0.2, both
PY
expect 2 'a power of 2 expected' train model.json --data train.tsv --tokenizer vocab.txt --shards 6 -o no
expect 2 '--batch 12 is no multiple of it' train model.json --data train.tsv --tokenizer vocab.txt --shards 8 --batch 12 -o no
expect 4 'has a loss scale' train model.json --data train.tsv --tokenizer vocab.txt --shards 8 --precision f16 -o no
expect 4 'updates whole matrices' train model.json --data train.tsv --tokenizer vocab.txt --shards 8 --optimizer adafactor -o no
expect 4 'emitted programs train with one' emit one --train -o no
expect 3 'with --shards 8, not 4' train model.json --tokenizer vocab.txt --data train.tsv --labels 2 --length 12 --batch 16 --lr 0.1 \
    --shards 4 --ema 0.9 --dropout 0.1 -o one --resume

"${PYTHON:-python3}" - <<'PY'
import json, numpy as np
rng = np.random.default_rng(3)
x, w = rng.standard_normal((40, 6)).astype(np.float32), rng.standard_normal((6, 2)).astype(np.float32)
np.save("y.npy", (x @ w).argmax(1))
x[23, 4] = np.nan
np.save("x.npy", x)
header = json.dumps({"w": {"dtype": "F32", "shape": [6, 2], "data_offsets": [0, 48]}}).encode()
open("line.safetensors", "wb").write(len(header).to_bytes(8, "little") + header + w.tobytes())
json.dump({"format": "graph/1", "name": "line", "opset": {"": 17}, "weights": {"file": "line.safetensors"},
           "inputs": [{"name": "x", "dtype": "f32", "shape": ["batch", 6]}], "outputs": [{"name": "y"}],
           "nodes": [{"op": "MatMul", "in": ["x", "w"], "out": ["y"]}]}, open("line.json", "w"))

# weights of several buckets, which are sent one after the other
np.save("fine.npy", np.nan_to_num(x))
shape, header, data = {"a": (6, 384), "b": (384, 384), "c": (384, 384), "d": (384, 2)}, {}, b""
for name, of in shape.items():
    w = (rng.standard_normal(of) / of[0] ** 0.5).astype(np.float32).tobytes()
    header[name] = {"dtype": "F32", "shape": of, "data_offsets": [len(data), len(data) + len(w)]}
    data += w
header = json.dumps(header).encode()
open("wide.safetensors", "wb").write(len(header).to_bytes(8, "little") + header + data)
nodes = []
for i, name in enumerate(shape):
    nodes += [{"op": "MatMul", "in": ["xabc"[i] + "t" * (i > 0), name], "out": [name + "m"]},
              {"op": "Tanh", "in": [name + "m"], "out": [name + "t"]}]
json.dump({"format": "graph/1", "name": "wide", "opset": {"": 17}, "weights": {"file": "wide.safetensors"},
           "inputs": [{"name": "x", "dtype": "f32", "shape": ["batch", 6]}], "outputs": [{"name": "dt"}],
           "nodes": nodes}, open("wide.json", "w"))
PY
wide="wide.json --data x=fine.npy --data label=y.npy --head none --batch 40 --steps 12 --lr 0.01 --shards 8 --threads 1 -q"
"$TESSERA" train $wide -o wide || wrong "a model of several buckets does not train"
halves=$(echo "$wide" | sed 's/--batch 40/--batch 20 --accumulate 2/; s/--shards 8/--shards 4/') # the same 40 examples a step
"$TESSERA" train $halves -o halves || wrong "a model of several buckets does not train on halves of a batch"
"${PYTHON:-python3}" - <<'PY' || wrong "two halves of a batch are not the whole"
import json
wide, halves = ([json.loads(l) for l in open(n + "/metrics.jsonl")] for n in ("wide", "halves"))
for a, b in zip(wide, halves, strict=True):
    for k in ("loss", "grad_norm"):
        assert abs(a[k] - b[k]) <= 1e-4 * abs(a[k]), (k, a, b)
PY

# ---- one process, several devices: parts of its processor, each with its shards ----
two=c:numa0,c:cores0 four=c,c:numa0,c:cores0,c:cores0-0
"$TESSERA" train "$@" --data train.tsv --steps 12 --target $two -o devices || wrong "two devices do not train"
same one devices
"$TESSERA" train $wide --target $four -o wide-devices || wrong "four devices do not train a model of several buckets"
same wide wide-devices
mixed= # an OpenCL device that is a processor, where there is one, has the same bits
"$TESSERA" run bert-tiny --dim seq=4 --seed 1 --target opencl:0 -q >/dev/null 2>&1 && mixed=c,opencl:0
if [ "$mixed" ]; then
    "$TESSERA" train "$@" --data train.tsv --steps 12 --target $mixed -o mixed || wrong "$mixed: two kinds of devices do not train"
    same one mixed
    "$TESSERA" train $wide --target $mixed -o wide-mixed || wrong "$mixed: a model of several buckets does not train"
    same wide wide-mixed
    "$TESSERA" train "$@" --data train.tsv --steps 5 --total-steps 12 --target $mixed -o mixed-on || wrong "$mixed: five steps"
    "$TESSERA" train --resume mixed-on --steps 12 --target c -q || wrong "one device does not go on where $mixed ended"
    same one mixed-on
fi
"$TESSERA" train "$@" --data train.tsv --steps 5 --total-steps 12 -o devices-on || wrong "one device does not train"
"$TESSERA" train --resume devices-on --steps 9 --target $four -q || wrong "four devices do not go on"
"$TESSERA" train --resume devices-on --steps 12 --target c -q || wrong "one device does not go on"
same one devices-on
expect 2 'error: --target c,c:numa0,c:cores0: 3 devices of 1 processes cannot share --shards 8' train "$@" --data train.tsv \
    --target c,c:numa0,c:cores0 -o no
expect 3 'there is no "moon" on this machine' train "$@" --data train.tsv --target c,c:moon -o no
"$TESSERA" train line.json --data x=x.npy --data label=y.npy --head none --batch 40 --steps 3 --shards 8 --target $two -q -o no-number 2>said
[ $? = 10 ] && grep -q 'the loss of shard [0-7] of 8 is the first that is not finite' said || wrong "devices: no number" "$(cat said)"

# ---- several: a copy that says which process it is, for those who end it ----
cat >rank.sh <<'SH'
echo $$ >"pid.${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
exec "$TESSERA" "$@"
SH
head -300 train.tsv >other.tsv
within() { # SECONDS: from now on
    i=0
    while kill -0 $child 2>/dev/null && [ $i -lt $((10 * $1)) ]; do sleep 0.1; i=$((i + 1)); done
    kill -0 $child 2>/dev/null && wrong "$mpi: not over after $1 s" && kill -KILL $child
    wait $child
    code=$?
}
count=0
for mpi in openmpi mpich; do
    command -v "mpirun.$mpi" >/dev/null || continue
    case $mpi in openmpi) library=ompi-c ;; *) library=mpich ;; esac
    [ -e "$(dirname "$TESSERA")/collective-$library.so" ] || continue
    count=$((count + 1))
    ranks() { # N ARGUMENT...
        n=$1
        shift
        timeout 120 "mpirun.$mpi" -n "$n" "$TESSERA" "$@" >said 2>&1
    }
    for n in 2 4 8; do
        ranks $n train "$@" --data train.tsv --steps 12 -o $mpi$n || wrong "$mpi: $n ranks end with $?" "$(cat said)"
        same one $mpi$n
    done
    ranks 2 train "$@" --data train.tsv --steps 12 --target $two -o $mpi-devices || wrong "$mpi: 2 ranks of 2 devices" "$(cat said)"
    same one $mpi-devices
    if [ "$mixed" ]; then
        ranks 2 train "$@" --data train.tsv --steps 12 --target $mixed -o $mpi-mixed || wrong "$mpi: 2 ranks of $mixed" "$(cat said)"
        same one $mpi-mixed
        # two processors of PoCL, one for each rank, where nobody says which
        POCL_DEVICES="pthread pthread" ranks 2 train "$@" --data train.tsv --target opencl --dry-run --json -o $mpi-opencl &&
            tr -d ' \n\t' <said | grep -q '"devices":\["opencl:0","opencl:1"\]' || wrong "$mpi: 2 ranks of one of two devices each" "$(cat said)"
    fi
    for n in 2 8; do
        ranks $n train $wide -o $mpi-wide$n || wrong "$mpi: $n ranks of several buckets end with $?" "$(cat said)"
        same wide $mpi-wide$n
        "${PYTHON:-python3}" - $mpi-wide$n/metrics.jsonl <<'PY' || wrong "$mpi: nothing is said of the exchange"
import json, sys
for row in map(json.loads, open(sys.argv[1])):
    assert row["exchange_ms"] > 0 and 0 <= row["exposed_ms"] <= row["ms"], row
    first, last = row["sent_before"][:-1], row["sent_before"][-1]
    if row["step"] + 1 in (1, 2, 4, 8): # kernel by kernel, so that each has a time
        assert not any(first), row
    else: # all but the last bucket are on their way while the backward pass goes on
        assert len(first) >= 2 and all(first) and first == sorted(first), row
PY
    done
    ranks 4 train $halves -o $mpi-halves || wrong "$mpi: 4 ranks on halves of a batch" "$(cat said)"
    same halves $mpi-halves
    ranks 4 train "$@" --data train.tsv --steps 5 --total-steps 12 -o $mpi-on || wrong "$mpi: 4 ranks" "$(cat said)"
    ranks 2 train --resume $mpi-on --steps 9 -q || wrong "$mpi: 2 ranks do not go on" "$(cat said)"
    "$TESSERA" train --resume $mpi-on --steps 12 -q || wrong "$mpi: one process does not go on"
    same one $mpi-on

    # refused at the start
    ranks 3 train "$@" --data train.tsv --steps 12 -o no
    [ $? = 2 ] && grep -q '3 processes cannot share --shards 8' said || wrong "$mpi: 3 ranks" "$(cat said)"
    timeout 60 "mpirun.$mpi" -n 1 "$TESSERA" train "$@" --data train.tsv -o no : -n 1 "$TESSERA" train "$@" --data other.tsv -o no >said 2>&1
    [ $? = 2 ] && grep -q 'rank 1 has --data .*other.tsv' said || wrong "$mpi: other data" "$(cat said)"
    mkdir -p $mpi-moved && cp model.json weights.safetensors vocab.txt dev.tsv $mpi-moved && cp other.tsv $mpi-moved/train.tsv
    timeout 60 "mpirun.$mpi" -n 1 "$TESSERA" train "$@" --data train.tsv -o no : -n 1 sh -c "cd $mpi-moved && exec \"\$TESSERA\" \"\$@\"" sh train "$@" --data train.tsv -o no >said 2>&1
    [ $? = 2 ] && grep -q 'rank 1 has the training data' said || wrong "$mpi: data of the same name" "$(cat said)"
    mkdir -p other && cp "$TESSERA" "$(dirname "$TESSERA")"/collective-*.so other && echo >>"other/$(basename "$TESSERA")"
    timeout 60 "mpirun.$mpi" -n 1 "$TESSERA" train "$@" --data train.tsv -o no : -n 1 "other/$(basename "$TESSERA")" train "$@" --data train.tsv -o no >said 2>&1
    [ $? = 2 ] && grep -q 'rank 1 has the program' said || wrong "$mpi: another program" "$(cat said)"
    timeout 60 "mpirun.$mpi" -n 1 "$TESSERA" train "$@" --data train.tsv -o no : -n 1 "$TESSERA" train "$@" --data none.tsv -o no >said 2>&1
    [ $? = 8 ] && grep -q "rank 1: cannot open 'none.tsv'" said || wrong "$mpi: a rank without data" "$(cat said)"
    # a rank on an older machine; a sanitizer's shadow is more than that has memory for
    if command -v qemu-x86_64 >/dev/null && grep -qw avx512f /proc/cpuinfo && ! grep -q 'TESSERA_SANITIZE:BOOL=ON' "$BUILD/CMakeCache.txt"; then
        timeout 60 "mpirun.$mpi" -n 1 "$TESSERA" train "$@" --data train.tsv -o no : -n 1 qemu-x86_64 -cpu Haswell "$TESSERA" train "$@" --data train.tsv -o no >said 2>&1
        code=$?
        [ $code = 4 ] && [ "$(grep -c '^error: ' said)" = 1 ] && grep -q 'hint: this one has avx2: --isa avx2 plans for that' said &&
            grep -q '^error: rank 1: the plan is for a machine with avx512.*, which this one lacks' said || wrong "$mpi: an older machine: $code" "$(cat said)"
    fi
    expect 4 'the plan is for a machine with neon, which this one lacks' train "$@" --data train.tsv --machine 'core:2 isa:neon' -o no
    [ -e no ] && wrong "$mpi: a run that is refused leaves a folder"

    # a loss that is none
    ranks 2 train line.json --data x=x.npy --data label=y.npy --head none --batch 40 --steps 3 --shards 8 -q -o $mpi-nan
    [ $? = 10 ] && [ "$(grep -c '^error: ' said)" = 1 ] && grep -q '^error: step 1: .*; the loss of shard [0-7] of 8 is the first that is not finite, on rank [01]' said || wrong "$mpi: no number" "$(cat said)"

    # ended in the middle
    for how in KILL STOP TERM; do
        run=$mpi-$how
        rm -f pid.*
        timeout 120 "mpirun.$mpi" -n 2 sh rank.sh train "$@" --data train.tsv --steps 100000 --total-steps 12 --save-every 3 --keep 100000 -o $run >$run.err 2>&1 &
        child=$! i=0
        while [ ! -e $run/checkpoints/step-00000006 ] && [ $i -lt 900 ]; do sleep 0.1; i=$((i + 1)); done
        kill -$how "$(cat pid.1)"
        within 12
        case $how in
            KILL) [ $code != 0 ] || [ $mpi = openmpi ] || wrong "$mpi: a killed rank ends with 0" "$(cat $run.err)" ;; # as kill_ranks.py says
            STOP) [ $code = 1 ] && grep -q 'rank 1 has not answered for 6 s' $run.err || wrong "$mpi: a stopped rank: $code" "$(cat $run.err)" ;;
            TERM) [ $code = 143 ] || wrong "$mpi: SIGTERM: $code" "$(cat $run.err)" ;;
        esac
        ls -d $run/checkpoints/step-000000[01]* >/dev/null || wrong "$mpi: SIG$how: nothing is saved"
        checked=$((checked + 1))
        for step in $run/checkpoints/step-*; do # as if the end had come earlier
            case $step in *-00000003 | *-00000006) ;; *) rm -r "$step" ;; esac
        done
        ranks 4 train --resume $run --steps 12 -q || wrong "$mpi: after SIG$how 4 ranks do not go on" "$(cat said)"
        same one $run
    done
done

# ---- by the standard's interface for binaries, where Tessera was built without the MPI at hand ----
abi=$BUILD/tests/mpiabi
if [ -e "$abi/libmpi_abi.so.0" ] && command -v mpirun.mpich >/dev/null; then
    mkdir -p alone && cp "$TESSERA" "$(dirname "$TESSERA")/collective-abi.so" alone
    command=alone/$(basename "$TESSERA")
    "$command" train "$@" --data train.tsv --steps 1 -o alone/run >said 2>&1 || wrong "abi: one process asks for an MPI" "$(cat said)"
    for n in 2 4; do
        LD_LIBRARY_PATH=$abi timeout 120 mpirun.mpich -n $n "$command" train "$@" --data train.tsv --steps 12 -o abi$n >said 2>&1 ||
            wrong "abi: $n ranks end with $?" "$(cat said)"
        [ "$(grep -c 'mpiabi: served' said)" = $n ] || wrong "abi: $n ranks are served by another MPI" "$(cat said)"
        same one abi$n
    done
    timeout 60 mpirun.mpich -n 2 "$command" train "$@" --data train.tsv -o no >said 2>&1
    [ $? = 5 ] && grep -q "this process is one of several, and collective-mpich.so cannot be opened, nor the standard's: libmpi_abi.so.0" said ||
        wrong "abi: no MPI serves" "$(cat said)"
    PMI_SIZE=3 LD_LIBRARY_PATH=$abi "$command" train "$@" --data train.tsv -o no >said 2>&1
    [ $? = 5 ] && grep -q 'this process is one of 3, and its MPI knows of 1: another MPI started it' said ||
        wrong "abi: another MPI" "$(cat said)"
    [ -e no ] && wrong "abi: a run that is refused leaves a folder"
fi
[ $count -gt 0 ] || echo "no MPI here: one process only"
finish
