#!/bin/sh
# A rank whose first thread hangs, which lives otherwise: all end, and it is named. Beside busy neighbours nobody is.
# ctest: large serial timeout=300
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
"${PYTHON:-python3}" "$SOURCE/tests/train/fixture.py" . || exit 77
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none
cat >still.c <<'C'
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int rename(const char *from, const char *to)
{
    while (strstr(to, "checkpoints"))
        pause();
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}
C
${CC:-cc} -shared -fPIC still.c -o still.so 2>/dev/null || echo "no C compiler: no checkpoint hangs"
for mpi in openmpi mpich; do
    case $mpi in openmpi) library=ompi-c ;; *) library=mpich ;; esac
    command -v "mpirun.$mpi" >/dev/null && [ -e "$(dirname "$TESSERA")/collective-$library.so" ] || continue
    rm -rf hung* busy*
    "${PYTHON:-python3}" "$SOURCE/tests/train/hang_ranks.py" "$TESSERA" "mpirun.$mpi" || wrong "$mpi: who hangs is not found, or who does not is blamed"
    checked=$((checked + 1))
done
[ "$checked" -gt 0 ] || { echo "skipped: no MPI here"; exit 77; }
finish
