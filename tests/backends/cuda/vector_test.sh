#!/bin/sh
# ctest: large O3
# What nests say is moved in vectors is moved so: pointwise and row kernels ask for 16 bytes of every lane, in reads and in
# writes, and touch no sector but those; the PTX has no narrower access of global memory. Where rows end within 16 bytes
# results are those of the interpreter, and no access is misaligned (the stand-in would say so).
. "$SOURCE/tests/cli/expect.sh"
. "$SOURCE/tests/backends/cuda/stand_in.sh"
cd "$dir" || exit 1

graph() { # OP DTYPE ROWS COLUMNS
    row="{\"dtype\": \"$2\", \"shape\": [$4]"
    case $1 in
    Add) more=", {\"name\": \"b\", ${row#?}}" in='"a", "b"' ;;
    LayerNormalization) more=", {\"name\": \"s\", ${row#?}}, {\"name\": \"b\", ${row#?}}" in='"a", "s", "b"' ;;
    *) more='' in='"a"' ;;
    esac
    echo "{\"format\": \"graph/1\", \"opset\": {\"\": 20}, \"outputs\": [{\"name\": \"y\"}],
 \"inputs\": [{\"name\": \"a\", \"dtype\": \"$2\", \"shape\": [$3, $4]}$more],
 \"nodes\": [{\"op\": \"$1\", \"in\": [$in], \"out\": [\"y\"]}]}" >graph.json
}

wide() { # OP DTYPE
    checked=$((checked + 1))
    graph "$1" "$2" 64 512
    rm -rf cache
    SIMCUDA_COUNTS=counts.json "$TESSERA" run graph.json --target cuda --seed 1 -q -o out --cache-dir cache >said 2>&1 ||
        { wrong "$1 $2 fails: $(cat said)"; return; }
    find cache -name object -exec cat {} + >ptx
    grep -aE '^[^a-z]*(@%p[0-9]* )?(ld|st)\.global' ptx | grep -aEv '\.(v4|v2\.[bufs]64)' >narrow && wrong "$1 $2: $(head -1 narrow)"
    grep -aEq 'ld\.global(\.nc)?\.(v4|v2\.[bufs]64)' ptx && grep -aEq 'st\.global\.(v4|v2\.[bufs]64)' ptx ||
        wrong "$1 $2: no access of 16 bytes in the PTX"
    "${PYTHON:-python3}" - "$1 $2" <<'PY' || wrong "$1 $2: accesses are narrower than 16 bytes, or sectors come again"
import json, sys
with open("counts.json") as f:
    c = json.loads(f.readline())
print(sys.argv[1], {k: c[k] for k in ("reads", "read_sectors", "writes", "write_sectors")})
sys.exit(not all(c[w + "_bytes"] == 32 * c[w + "_sectors"] == 512 * c[w + "s"] for w in ("read", "write")))
PY
}
for op in Add Gelu Softmax; do
    for dtype in f32 bf16 f16 f64; do wide $op $dtype; done
done
wide LayerNormalization f32 # of halves it holds rows in f32, of which 16 bytes are 8 of them
for dtype in i8 i32 i64; do wide Add $dtype; done

exact() { # DTYPE ROWS COLUMNS
    checked=$((checked + 1))
    graph Add "$1" "$2" "$3"
    for target in cuda interp; do
        "$TESSERA" run graph.json --target $target --seed 1 -q -o $target-out >said 2>&1 || wrong "$*: $(cat said)"
    done
    cmp cuda-out/y.npy interp-out/y.npy || wrong "Add $*: other results than the interpreter's"
    rm -rf cuda-out interp-out
}
for size in "7 510" "5 1021" "3 7" "1 4100" "64 12" "33 1000"; do
    for dtype in i8 f32 i64; do exact $dtype $size; done
done
finish
