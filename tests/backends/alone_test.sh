#!/bin/sh
# The system without the back ends that generate code, what they share and all schemas, which are theirs: it builds,
# plans are for the one that is left and computes here, and a model runs to the bits of the whole system's interpreter.
# ctest: large
set -eu
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cd "$SOURCE"
git ls-files -co --exclude-standard -z | xargs -0 cp --parents -t "$copy"
cd "$copy"
git init -q .
. "$SOURCE/tests/backends/taken.sh"
for room in backends/*/; do
    case $room in
    backends/interp/ | backends/cpu/ | backends/codegen/ | backends/cache/ | backends/probe/) ;;
    *) rm -r "$room" ;;
    esac
done
rm -r tests
mkdir tests
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE='-O0 -DNDEBUG' -DCMAKE_C_COMPILER_LAUNCHER="$launcher" \
    >build.log 2>&1 || { cat build.log; exit 1; }
cmake --build build -j 2 --target command >build.log || { grep -v '^\[' build.log; exit 1; }
build/tessera run bert-tiny --dim seq=8 --seed 1 --out usual -q
"$TESSERA" run bert-tiny --dim seq=8 --seed 1 --target interp --out whole -q
[ "$(ls usual)" = "$(ls whole)" ] && [ -s usual/last_hidden_state.npy ]
for file in whole/*; do
    cmp "$file" "usual/${file#whole/}"
done
build/tessera explain bert-tiny --json | grep -q '"target":[[:space:]]*"interp"' || { echo "plans are for another target"; exit 1; }
! build/tessera run bert-tiny --dim seq=8 --seed 1 --target c 2>said || { echo "a target that is not there runs"; exit 1; }
grep -q 'no target "c"' said && grep -q 'the targets are interp$' said || { cat said; exit 1; }
