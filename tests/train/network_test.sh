#!/bin/sh
# The network in software (tests/network): ranks end with the bits of one process, and no exchange is sooner over than its latency and
# its bytes take.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none # the network's record has the name of that which it is around
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0:detect_odr_violation=0"
[ -e "$BUILD/tests/network/network.so" ] || { echo "skipped: no tests/network/network.so"; exit 77; }
yes 'to be or not to be, that is the question.' | head -200 >text.txt
set -- gpt2-tiny --task lm --tokenizer bytes --data text.txt --length 16 --batch 4 --shards 2 --steps 3 --threads 1 -q
"$TESSERA" train "$@" -o one || wrong "shards do not train"
count=0
for mpi in openmpi mpich; do
    command -v "mpirun.$mpi" >/dev/null || continue
    case $mpi in openmpi) library=ompi-c ;; *) library=mpich ;; esac
    own=$(dirname "$TESSERA")/collective-$library.so
    [ -e "$own" ] || continue
    count=$((count + 1))
    mkdir -p $mpi && cp "$TESSERA" $mpi && cp "$BUILD/tests/network/network.so" $mpi/collective-$library.so
    NETWORK="0.01 1e7 $dir/$mpi/board $own" timeout 60 "mpirun.$mpi" -n 2 "$mpi/$(basename "$TESSERA")" train "$@" -o $mpi-run >said 2>&1 ||
        wrong "$mpi: 2 ranks end with $?" "$(cat said)"
    cmp one/checkpoints/step-00000003/weights.safetensors $mpi-run/checkpoints/step-00000003/weights.safetensors ||
        wrong "$mpi: other weights"
    "${PYTHON:-python3}" - one/checkpoints/step-00000003/weights.safetensors $mpi-run/metrics.jsonl <<'PY' || wrong "$mpi: an exchange is over too soon"
import json, os, sys
half = os.path.getsize(sys.argv[1]) * 0.99 / 2  # of sums, each way; weights come in the next step, too
sent = [r["exchange_ms"] for r in map(json.loads, open(sys.argv[2])) if "exchange_ms" in r]
print(sent, half / 1e4)
assert len(sent) == 3 and min(sent) > half / 1e4, (sent, half / 1e4)
PY
    checked=$((checked + 1))
done
[ $count -gt 0 ] || { echo "skipped: no mpirun whose collective is built"; exit 77; }
finish
