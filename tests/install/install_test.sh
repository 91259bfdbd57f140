# What `cmake --install` leaves is enough: a C program finds it through pkg-config, builds against the shared and the
# static library, and computes; the headers are C++ as well, and list their sections; and the shared library shows what
# the headers declare and nothing else.
# ctest: large (there the shared library shows all)
set -eu
to=$(mktemp -d)
trap 'rm -rf "$to"' EXIT
cmake --install "$BUILD" --prefix "$to/usr" >/dev/null
PKG_CONFIG_PATH=$(dirname "$(find "$to/usr" -name tessera.pc)")
export PKG_CONFIG_PATH
lib=$(pkg-config --variable=libdir tessera)
sanitizers=$(grep -q 'TESSERA_SANITIZE:BOOL=ON' "$BUILD/CMakeCache.txt" && echo -fsanitize=address,undefined || true)
strict="-std=c11 -Wall -Wextra -Wpedantic -Werror $sanitizers"
expected='interp: 0 3 12 0
c: 0 3 12 0'

cc $strict "$SOURCE/tests/install/example.c" $(pkg-config --cflags --libs tessera) -o "$to/shared"
static=$(pkg-config --static --libs tessera | sed "s,-ltessera,$lib/libtessera.a,")
case $static in *udev*) echo "the static library wants udev: $static" && exit 1 ;; esac
cc $strict "$SOURCE/tests/install/example.c" $(pkg-config --cflags tessera) $static -o "$to/static"
for program in shared static; do
    got=$(LD_LIBRARY_PATH=$lib "$to/$program") || { echo "the $program example failed"; exit 1; }
    [ "$got" = "$expected" ] || { printf '%s example printed\n%s\nwanted\n%s\n' "$program" "$got" "$expected"; exit 1; }
done
# The training program stands in README, and what is between its first and last lines in the header
cc $strict "$SOURCE/tests/install/train.c" $(pkg-config --cflags --libs tessera) -o "$to/train"
got=$(LD_LIBRARY_PATH=$lib "$to/train") && [ "$got" = "w = 3.00 -2.00" ] || { echo "the training program printed $got"; exit 1; }
sed -n '/^#include <stdio/,/^```$/p' "$SOURCE/README.md" | sed '$d' >"$to/readme.c"
sed -n '/^#include/,$p' "$SOURCE/tests/install/train.c" | diff "$to/readme.c" - || { echo "README has another program"; exit 1; }
plain() { sed 's,/\* \(.*\) \*/$,// \1,' "$1" | sed -n '/ts_tensor x = /,/ts_plan_run(p, &e);$/s/^\( \*\)\{0,1\} *//p'; }
plain "$SOURCE/include/tessera.h" >"$to/header.c"
[ "$(wc -l <"$to/header.c")" -gt 20 ] || { echo "the header has no training program"; exit 1; }
plain "$SOURCE/tests/install/train.c" | diff "$to/header.c" - || { echo "the header has another program"; exit 1; }

# a step over two devices: y = 2 x of x = 1, ..., 4, w = 0.5, rate 0.05
cc $strict "$SOURCE/tests/install/parallel.c" $(pkg-config --cflags --libs tessera) -o "$to/parallel"
for devices in 'c c' 'c:cores0 interp'; do
    got=$(LD_LIBRARY_PATH=$lib "$to/parallel" $devices) || true
    [ "$got" = "loss 67.5, w = 5.0" ] || { echo "the step over $devices printed $got"; exit 1; }
done

# an evaluator beside Tessera, by what the header says of graphs, in 100 lines
[ "$(wc -l <"$SOURCE/tests/install/walk.c")" -le 100 ] || { echo "the walk takes more than 100 lines"; exit 1; }
cc $strict "$SOURCE/tests/install/walk.c" $(pkg-config --cflags --libs tessera) -lm -o "$to/walk"
LD_LIBRARY_PATH=$lib "$to/walk" >"$to/walked" || { echo "the walk fails"; cat "$to/walked"; exit 1; }
[ "$(grep -c ', read by ' "$to/walked")" = 9 ] || { echo "not 9 nodes:"; cat "$to/walked"; exit 1; }
"$to/usr/bin/tessera" version >/dev/null
"$to/usr/bin/tessera" completion bash | grep -q "value='[^']*onnxruntime" || { echo "no peers were installed"; exit 1; }
for script in "$SOURCE"/bench/peers/*.py "$SOURCE"/backends/*/peers/*.py; do
    cmp "$script" "$to/usr/share/tessera/peers/$(basename "$script")" || { echo "$script was not installed"; exit 1; }
done
for header in "$SOURCE"/include/*.h; do
    installed=$to/usr/include/$(basename "$header")
    cc -std=c11 -fsyntax-only -x c++ "$installed" 2>/dev/null || [ -z "$(command -v g++ clang++)" ] ||
        "$(command -v g++ clang++ | head -1)" -fsyntax-only -Wall -Werror -x c++ "$installed"
    awk '/^ \* Sections: /, /\.( |$)/ { sub(/^ \*( Sections:)? /, ""); sub(/\..*/, ""); printf "%s ", $0 }' \
        "$header" | sed 's/, */\n/g; s/ *$/\n/' >"$to/listed"
    sed -n 's,^/\* ---- \([^:-]*[a-z]\).*,\1,p' "$header" >"$to/sections"
    diff "$to/listed" "$to/sections" || { echo "$header lists (<) other sections than it has (>)"; exit 1; }
done

grep -hv '^typedef' "$SOURCE"/include/*.h | grep -o '\<ts_[a-z0-9_]*(' | tr -d '(' | sort -u >"$to/declared"
nm -D --defined-only "$lib/libtessera.so" | awk '{ print $NF }' | sort -u >"$to/exported"
[ -s "$to/declared" ]
diff "$to/declared" "$to/exported" || { echo "header (<) and library (>) differ"; exit 1; }
