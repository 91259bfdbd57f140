#!/bin/sh
# A rank that runs out of memory, by a limit of its address space (ulimit -v) or by --mem-limit: all others end within 10 s, with its
# number, its reason and its exit code; what was saved is whole and goes on with another number of ranks. While a checkpoint is
# written rank 0 takes as much as any other one; of four ranks each keeps a quarter of what the optimizer keeps.
# ctest: large timeout=300
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none TESSERA
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" # MPI itself frees not all that it takes
"${PYTHON:-python3}" - <<'PY' || { echo "skipped: no numpy"; exit 77; }
import json
import numpy as np
W, nodes, x = 512, [], "x"
for i in range(8):
    nodes += [{"name": f"w{i}", "op": "tessera.parameter", "in": [], "out": [f"w{i}"], "attr": {"shape": [W, W], "seed": i + 1, "scale": 0.05}},
              {"op": "MatMul", "in": [x, f"w{i}"], "out": [f"h{i}"]}, {"op": "Tanh", "in": [f"h{i}"], "out": [f"t{i}"]}]
    x = f"t{i}"
nodes += [{"op": "ReduceSum", "in": [x], "out": ["loss"], "attr": {"keepdims": 0}}]
json.dump({"format": "graph/1", "name": "deep", "opset": {"": 17}, "nodes": nodes, "outputs": [{"name": "loss"}],
           "inputs": [{"name": "x", "dtype": "f32", "shape": ["batch", W]}]}, open("deep.json", "w"))
np.save("x.npy", np.random.default_rng(1).standard_normal((2048, W)).astype("f4"))
PY
cat >rank.sh <<'SH'
#!/bin/sh
# $MOST: KiB of address space of rank 1; $ONLY: more options of it
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ] || exec "$TESSERA" "$@"
[ -z "$MOST" ] || ulimit -v "$MOST"
exec "$TESSERA" "$@" $ONLY
SH
chmod +x rank.sh
first="deep.json --data x=x.npy --loss loss --batch 2048 --shards 2 --lr 1e-5 --total-steps 4 --save-every 2 --threads 1 -q"
# shellcheck disable=SC2086 # words
"$TESSERA" train $first --steps 4 -o one || wrong "shards do not train"
ends() { # WHAT ARGUMENT...: within 10 s and the time of a start, as rank 1 has no memory
    what=$1 from=$(date +%s)
    shift
    timeout 60 "mpirun.$mpi" -n 2 ./rank.sh train "$@" >said 2>&1
    code=$? took=$(($(date +%s) - from))
    [ $code = 7 ] || wrong "$mpi, $what: exit code $code, not 7" "$(cat said)"
    grep -Eq 'error: rank 1: .*(no memory for|the plan needs .* are allowed)' said || wrong "$mpi, $what: who has none is not said" "$(cat said)"
    [ $took -le $((began + 10)) ] || wrong "$mpi, $what: over after $took s, a start takes $began s"
    checked=$((checked + 1))
}
"${PYTHON:-python3}" - <<'PY'
import numpy as np
with open("big.npy", "wb") as f:  # zeros that take no disk
    np.lib.format.write_array_header_1_0(f, {"descr": "<f4", "fortran_order": False, "shape": (1 << 19, 512)})
    f.truncate(f.tell() + (1 << 30))
PY
cat >peak.py <<'PY'
import os, resource, subprocess, sys
code = subprocess.run([os.environ["TESSERA"], *sys.argv[1:]], close_fds=False).returncode
rank = os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ["PMI_RANK"]
open(f"peak.{rank}", "w").write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024))
sys.exit(code)
PY
sed 's/512/1024/g' deep.json >large.json # 32 MiB of weights, 64 of what the optimizer keeps
"${PYTHON:-python3}" -c 'import numpy as np; np.save("large.npy", np.ones((8, 1024), "f4"))'
count=0
for mpi in openmpi mpich; do
    command -v "mpirun.$mpi" >/dev/null || continue
    case $mpi in openmpi) library=ompi-c ;; *) library=mpich ;; esac
    [ -e "$(dirname "$TESSERA")/collective-$library.so" ] || continue
    count=$((count + 1)) from=$(date +%s)
    # shellcheck disable=SC2086 # words
    timeout 60 "mpirun.$mpi" -n 2 "$TESSERA" train $first --steps 2 -o $mpi >said 2>&1 || wrong "$mpi: 2 ranks" "$(cat said)"
    began=$(($(date +%s) - from))
    timeout 120 "mpirun.$mpi" -n 2 "${PYTHON:-python3}" peak.py train large.json --data x=large.npy --loss loss --batch 8 --shards 2 --lr 1e-5 \
        --steps 1 --threads 1 -q -o $mpi-large >said 2>&1 || wrong "$mpi: 2 ranks of a large model" "$(cat said)"
    [ $(($(cat peak.0) - $(cat peak.1))) -lt 20 ] || wrong "$mpi: rank 0 takes $(cat peak.0) MiB, rank 1 $(cat peak.1)"
    echo "$mpi: rank 0 takes $(cat peak.0) MiB, rank 1 $(cat peak.1)" # one state is 32 MiB, of which a rank has half
    for n in 2 4; do # 64 MiB of moments in shares of as many
        timeout 120 "mpirun.$mpi" -n $n "${PYTHON:-python3}" peak.py train large.json --data x=large.npy --loss loss --batch 8 --shards 4 \
            --lr 1e-5 --steps 1 --threads 1 -q -o $mpi-large$n >said 2>&1 || wrong "$mpi: $n ranks of a large model" "$(cat said)"
        cp peak.1 share.$n
    done
    echo "$mpi: rank 1 of 2 takes $(cat share.2) MiB, of 4 $(cat share.4)"
    [ $(($(cat share.2) - $(cat share.4))) -ge 12 ] || wrong "$mpi: rank 1 of 2 takes $(cat share.2) MiB, of 4 $(cat share.4)"
    ONLY="--mem-limit 20M" ends "--mem-limit" --resume $mpi --steps 4 -q
    "$TESSERA" train --resume $mpi --steps 4 -q || wrong "$mpi: one process does not go on"
    cmp one/checkpoints/step-00000004/weights.safetensors $mpi/checkpoints/step-00000004/weights.safetensors ||
        wrong "$mpi: other weights in the end"
    # room for MPI and a start, none for the data; a sanitizer takes address space without end
    if (ulimit -v 700000 && "$TESSERA" --version >/dev/null 2>&1); then
        # shellcheck disable=SC2086 # words
        MOST=700000 ends "ulimit -v" ${first%%--data*} --data x=big.npy ${first#*x.npy} --steps 2 -o $mpi-none
    fi
done
[ $count -gt 0 ] || { echo "skipped: no mpirun whose collective is built"; exit 77; }
finish
