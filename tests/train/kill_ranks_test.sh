#!/bin/sh
# Ranks that are killed at random moments, one of them or the other: all end, no checkpoint is lost, and any number of ranks
# goes on to the bits of one process that was left alone.
# ctest: large serial timeout=300
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
"${PYTHON:-python3}" "$SOURCE/tests/train/fixture.py" . || exit 77
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none
for mpi in openmpi mpich; do
    case $mpi in openmpi) library=ompi-c ;; *) library=mpich ;; esac
    command -v "mpirun.$mpi" >/dev/null && [ -e "$(dirname "$TESSERA")/collective-$library.so" ] || continue
    rm -rf alone killed
    "${PYTHON:-python3}" "$SOURCE/tests/train/kill_ranks.py" "$TESSERA" "mpirun.$mpi" || wrong "$mpi: killed eight times, a run is another one"
    checked=$((checked + 1))
done
[ "$checked" -gt 0 ] || { echo "skipped: no MPI here"; exit 77; }
finish
