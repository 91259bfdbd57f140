#!/bin/sh
# ranked_test.sh - bench --ranks: a pass and a step over processes; the times of all ranks are there and go together; what has
# no place, or differs among ranks, is refused by name.
# ctest: O1
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" # MPI itself frees not all that it takes
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none
pass="bert-tiny --dim seq=8 --dim batch=8 --ranks --threads 1 --min-time 100ms"
step="bert-tiny --train --length 8 --batch 8 --ranks --threads 1 --min-time 100ms"
holds() { # FILE RANKS SHARDS: who works longest is named, and nobody works longer than all
    checked=$((checked + 1))
    "${PYTHON:-python3}" - "$@" <<'PY' || wrong "$1: $(cat "$1")"
import json, sys
r, ranks, shards = json.load(open(sys.argv[1])), int(sys.argv[2]), int(sys.argv[3])
rows = r["rows"]
assert (r["format"], r["ranks"], r["shards"], [x["rank"] for x in rows]) == ("ranked/1", ranks, shards, list(range(ranks))), r
assert r["count"] >= 5 and r["spread"] >= 0 and 0 < r["p50_ns"] <= r["p90_ns"], r
assert rows[r["slowest"]]["p50_ns"] == max(x["p50_ns"] for x in rows) and rows[0]["p50_ns"] <= r["p50_ns"], r
assert all(0 < x["p50_ns"] <= x["p90_ns"] and x["waits_ns"] >= 0 for x in rows), r
if ranks > 1 and r["what"] == "a step":
    assert 0 < r["exposed_ns"] and 0 < r["exchange_ns"] and r["exposed_ns"] < r["p50_ns"], r
PY
}
"$TESSERA" bench $pass --shards 4 --json >pass.json || wrong "a pass of one process"
holds pass.json 1 4
"$TESSERA" bench $step --shards 2 --json >step.json || wrong "a step of one process"
holds step.json 1 2
for mpi in openmpi mpich; do
    case $mpi in openmpi) library=ompi-c ;; *) library=mpich ;; esac
    command -v "mpirun.$mpi" >/dev/null && [ -e "$(dirname "$TESSERA")/collective-$library.so" ] || continue
    timeout 120 "mpirun.$mpi" -n 2 "$TESSERA" bench $pass --json >$mpi.json || wrong "$mpi: a pass"
    holds $mpi.json 2 2
    timeout 120 "mpirun.$mpi" -n 2 "$TESSERA" bench $step --shards 4 --json >$mpi.json || wrong "$mpi: a step"
    holds $mpi.json 2 4
    timeout 120 "mpirun.$mpi" -n 2 "$TESSERA" bench $pass >said 2>&1
    grep -q 'a pass of 2 shards, 2 ranks: .*rank [01] works longest' said || wrong "$mpi: no table" "$(cat said)"
    timeout 60 "mpirun.$mpi" -n 1 "$TESSERA" bench $pass : -n 1 "$TESSERA" bench $pass --seed 3 >said 2>&1
    [ $? = 2 ] && grep -q "rank 1 has the options" said || wrong "$mpi: other options" "$(cat said)"
    timeout 60 "mpirun.$mpi" -n 2 "$TESSERA" bench $pass --shards 1 >said 2>&1
    [ $? = 2 ] && grep -q '2 processes cannot share --shards 1' said || wrong "$mpi: too few shards" "$(cat said)"
done
expect 2 'cannot share --shards 3' bench bert-tiny --ranks --shards 3
expect 2 'no multiple of it' bench bert-tiny --dim seq=8 --dim batch=3 --ranks --shards 2
expect 2 '--batch 6 is no multiple of it' bench bert-tiny --train --batch 6 --length 8 --ranks --shards 4
expect 2 'and --ranks gives times of each process' bench bert-tiny --ranks --report r.html
expect 2 '--ranks is for one extent' bench bert-tiny --ranks --sweep seq=4,8
expect 2 'shared out over processes, and none is asked' bench bert-tiny --shards 2
finish
