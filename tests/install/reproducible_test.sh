#!/bin/sh
# reproducible_test.sh [all] - what is built does not depend on where or when: two copies of the tree, in folders of
# different depth, give the same bits, and what stands in the build names none of its folders. Here one source in
# SHARE (60) is compiled twice; with `all`, the command and both libraries, in the time of two builds.
# ctest: large (sanitizers keep paths)
set -eu
to=$(mktemp -d)
trap 'rm -rf "$to"' EXIT
bad=0
for file in "$BUILD/tessera" "$BUILD"/libtessera.so.*.* "$BUILD/libtessera.a"; do
    for folder in "$BUILD" "$SOURCE"; do
        ! grep -aqF -- "$folder/" "$file" || { echo "$(basename "$file") names the folder that it was built in"; bad=1; }
    done
done

mkdir -p "$to/a" "$to/deeper/and/deeper/b"
for copy in "$to/a" "$to/deeper/and/deeper/b"; do
    (cd "$SOURCE" && git ls-files -co --exclude-standard -z | tar -cf - --null --ignore-failed-read -T - 2>/dev/null) | tar -xf - -C "$copy"
    cmake -S "$copy" -B "$copy/build" -G Ninja -DCMAKE_BUILD_TYPE=Release >"$copy/log" 2>&1 || { cat "$copy/log"; exit 1; }
done
if [ "${1:-}" = all ]; then
    made="tessera libtessera.a $(cd "$BUILD" && ls libtessera.so.*.*)"
    targets="tessera libtessera.a libtessera.so"
else
    made=$(ninja -C "$to/a/build" -t targets all | sed -n 's/^\(CMakeFiles\/[a-z]*\.dir\/.*\.c\.o\):.*/\1/p' | sort |
        awk -v share="${SHARE:-60}" 'NR % share == 0')
    targets=$made
fi
[ -n "$made" ]
for copy in "$to/a" "$to/deeper/and/deeper/b"; do
    # shellcheck disable=SC2086 # names of files have no blanks
    ninja -C "$copy/build" -j "${JOBS:-2}" $targets >"$copy/log" 2>&1 || { tail -20 "$copy/log"; exit 1; }
done
n=0
for file in $made; do
    n=$((n + 1))
    cmp "$to/a/build/$file" "$to/deeper/and/deeper/b/build/$file" || bad=1
done
echo "reproducible: $n files built twice, the same bits: $([ $bad = 0 ] && echo yes || echo no)"
exit $bad
