#!/bin/sh
# A unit of C begins with what it uses and nothing else: a header takes a compiler as long as a small kernel does.
# ctest: fast
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
emits() { # emits FOLDER NODES: of f32[8,33] a to x
    cat >$1.json <<JSON
{"format": "graph/1", "opset": {"": 17}, "inputs": [{"name": "a", "dtype": "f32", "shape": [8, 33]}],
 "outputs": [{"name": "x"}], "nodes": [$2]}
JSON
    expect 0 'note: wrote' emit $1.json --isa plain --threads 1 -o $1
    for unit in $1/k_*.c; do
        checked=$((checked + 1))
        ${CC:-cc} -std=c11 -Wall -Wextra -Wno-unknown-pragmas -Werror -fsyntax-only "$unit" >log 2>&1 ||
            wrong "$unit is not whole" "$(cat log)"
    done
}
begins() { # begins FOLDER LINE...: those that its unit begins with, less what every one has
    folder=$1
    shift
    checked=$((checked + 1))
    printf '%s\n' "$@" | sed '/^$/d' >want
    sed '/share.h/,$d' "$folder"/k_*.c | grep -o '^#include.*\|^ *#define [A-Z0-9_]*' | LC_ALL=C sort -u >have
    cmp -s want have || wrong "$folder begins with other lines" "$(diff want have)"
}
emits turned '{"op": "Transpose", "in": ["a"], "out": ["x"]}'
begins turned '#define LANES' '#define TEXT' '#define UNROLL' '#define ZIP' '#include <stdint.h>'
emits rooted '{"op": "Sqrt", "in": ["a"], "out": ["x"]}'
begins rooted '#define LANES' '#define TEXT' '#define UNROLL' '#include <math.h>'
emits counted '{"op": "ArgMax", "attr": {"axis": 1}, "in": ["a"], "out": ["x"]}'
begins counted '#define LANES' '#define TEXT' '#define UNROLL' '#include <math.h>' '#include <stdint.h>'
finish
