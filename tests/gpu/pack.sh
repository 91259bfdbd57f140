#!/bin/sh
# pack.sh FOLDER - builds the command and the tests that tests/gpu/run.sh runs into FOLDER, a new one at the top of the
# sources, with the libraries that they need beside them: for a machine that has none of these and cannot build. Carried
# there with the sources, it is named to run.sh: --build FOLDER. The system there must be as new as here (libc).
set -eu
[ $# = 1 ] && [ ! -e "$1" ] || { echo "usage: pack.sh FOLDER, one that is not there yet" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$root/build/pack # kept: a second call builds what has changed
mkdir -p "$work"
tests=$(grep -v '^#' "$here/tests" | sed 's/ .*/-test/')
# Libraries are found from where the program lies; those that they need in turn, too
cmake -S "$root" -B "$work" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_BUILD_RPATH='$ORIGIN/lib;$ORIGIN/../lib' \
    -DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags >"$work/log" || { cat "$work/log" >&2; exit 1; }
# shellcheck disable=SC2086
cmake --build "$work" --target command ${PACK_TARGETS-$tests} >>"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; exit 1; }
mkdir -p "$1/lib" "$1/tests"
cp -R "$work/peers" "$1/"
strip -o "$1/tessera" "$work/tessera"
for test in ${PACK_TARGETS-$tests}; do strip -o "$1/tests/$test" "$work/tests/$test"; done
ldd "$work/tessera" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' |
    grep -vE '/(libc|libm|libdl|librt|libpthread|ld-linux[^/]*)\.so' | while read -r library; do
    cp -L "$library" "$1/lib/"
done
du -sh "$1" | cut -f 1 | sed "s|\$| in $1: carry it, and call tests/gpu/run.sh --build $1 there|"
