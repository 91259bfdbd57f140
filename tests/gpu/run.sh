#!/bin/sh
# run.sh - on a machine with a graphics processor, in one call: builds, verifies against the driver that is there, times
# within 9 minutes, and leaves results as JSON and as a short table. It needs no network, and nothing that is not there: a
# peer that is not installed is left out with a line, and a part that fails leaves the others.
#
#   tests/gpu/run.sh [--build FOLDER] [--out FOLDER] [--rows FILE] [--tests FILE] [--only REGEX] [--seconds N]
#                    [--min-time T]
#
#   --build FOLDER what is built there is used (default: build); without a command in it, it is built first. A machine
#                  that cannot build gets a folder that tests/gpu/pack.sh made elsewhere
#   --out FOLDER   results.json, table.txt, a log of every part (default: gpu in the folder of the build)
#   --rows FILE    what is timed (default: tests/gpu/rows); --only REGEX: of these the rows whose name fits
#   --tests FILE   what is run first (default: tests/gpu/tests)
#   --seconds N    when all must have ended (default: 540); --min-time T: that a row is timed for, at least (default: 0.5s)
#
# TESSERA_CUDA: as for the command; the stand-in of the tests may be named. PEER_PYTHON: the Python
# that runs peers (default: python3). Exit status: 0 all passed and timed, 1 not all, 2 the call is wrong.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
begin=$(date +%s) build=build tests=$here/tests
python=$(command -v "${PEER_PYTHON:-python3}") || { echo "run.sh: no ${PEER_PYTHON:-python3}: it drives the tests" >&2; exit 2; }
said=
while [ $# -gt 0 ]; do
    case $1 in
    --build | --out | --rows | --tests | --only | --seconds | --min-time)
        [ $# -gt 1 ] || { echo "run.sh: $1 needs a value" >&2; exit 2; } ;;
    *) echo "run.sh: unknown option $1; there are --build, --out, --rows, --tests, --only, --seconds and --min-time" >&2; exit 2 ;;
    esac
    case $1 in
    --build) build=$2 ;;
    --tests) tests=$2 ;;
    *) said="$said $1 $2" ;; # names of files here have no blanks
    esac
    shift 2
done
case $build in /*) ;; *) build=$root/$build ;; esac

build_all() {
    targets=$(grep -v '^#' "$tests" | sed 's/ .*/-test/')
    # shellcheck disable=SC2086
    cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release && cmake --build "$build" --target command $targets
}
if [ ! -x "$build/tessera" ]; then
    mkdir -p "$build" && echo "building in $build"
    if ! build_all >"$build/build.log" 2>&1; then
        grep -iE -m 3 'error|not found|missing' "$build/build.log" >&2
        echo "run.sh: nothing can be built here; $build/build.log says all. Make a folder with tests/gpu/pack.sh FOLDER on a" \
            "machine where it builds, bring it here, and name it: tests/gpu/run.sh --build FOLDER" >&2
        exit 1
    fi
fi
if ! why=$("$build/tessera" version 2>&1); then
    echo "run.sh: $build/tessera does not start: $why" >&2
    echo "run.sh: it was built for a machine with other libraries; tests/gpu/pack.sh makes a folder that brings its own" >&2
    exit 1
fi
export TESSERA_CUDA="${TESSERA_CUDA:+$TESSERA_CUDA,}driver=libcuda.so.1" # the first one counts
cd "$root" || exit 1
# shellcheck disable=SC2086
exec "$python" -B "$here/run.py" --begin "$begin" --build "$build" --tests "$tests" $said
