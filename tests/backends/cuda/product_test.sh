#!/bin/sh
# ctest: large timeout=300 O3
# What a product of 512 x 1024 x 512 in bf16 costs on a card of capability 9.0, as the stand-in counts it: no bank of
# shared memory is asked twice, nothing but the tiling's own bytes comes from memory, and matrix units do the work.
. "$SOURCE/tests/cli/expect.sh"
driver=$BUILD/tests/gpusim/libcuda.so.1
[ -r "$driver" ] || { echo "no stand-in for the driver of CUDA"; exit 77; }
export TESSERA_CUDA="driver=$driver,ptx,${TESSERA_CUDA:-}" SIMCUDA_SM=90 SIMCUDA_SM_COUNT=33 SIMCUDA_VERBOSE=0
cd "$dir" || exit 1
cat >product.json <<'JSON'
{"format": "graph/1", "opset": {"": 17}, "outputs": [{"name": "y"}],
 "inputs": [{"name": "a", "dtype": "bf16", "shape": [512, 1024]}, {"name": "b", "dtype": "bf16", "shape": [1024, 512]}],
 "nodes": [{"op": "MatMul", "in": ["a", "b"], "out": ["y"]}]}
JSON
tile() { # NAME LOOPS
    echo "{\"format\": \"tiling/1\", \"rules\": [{\"loops\": \"$2\"}]}" >"$1.json"
}
tile warps 'm/128@block n/128@block k/32+a@shared*3+b@shared*3 k/16@unroll m/64@warp n/32@warp m/16@unroll n/8@unroll m@mma n@mma k@mma'
tile four 'm/128@block n/256@block k/64+a@shared*3+b@shared*3 k/16@unroll m/16@warp m@mma n@mma k@mma'

# counts LEAST SHARE ROWS COLUMNS ARGUMENT...: of blocks of that size; at least LEAST multiply-adds for each instruction,
# all of them made by matrix units, whose instructions are at least that SHARE: those of one warp, which do less each
boxed=0 # the device brings all slices by itself
counts() {
    least=$1 share=$2 rows=$3 columns=$4
    shift 4
    checked=$((checked + 1))
    SIMCUDA_COUNTS=counts.json "$TESSERA" run product.json --target cuda --seed 1 --threads 1 -q -o out "$@" >said 2>&1 ||
        { grep -q NVRTC said && { echo "no NVRTC"; exit 77; }; wrong "the product fails: $(cat said)"; return; }
    "${PYTHON:-python3}" - "$least" "$share" "$rows" "$columns" "$boxed" <<'PY' || wrong "$*: counts are too high"
import json, sys
least, share, rows, columns, boxed = *map(float, sys.argv[1:3]), *map(int, sys.argv[3:6])
c = json.loads(open("counts.json").readline())
n, k = 512, 1024
read = 2 * n * k * (n // rows + n // columns)
conflicts, tensor = c["conflicts"] / c["passes"], c["tensor"] / c["instructions"]
each = c["products"] / c["instructions"]
brought = (c["read_sectors"] + c["write_sectors"]) * 32 / (read + 2 * n * n)
print(f"{rows} x {columns}: bank conflicts {conflicts:.2%}, bytes {brought:.3f} of the tiling's "
      f"{c['bulk_bytes'] / read:.0%} of them by the device "
      f"(read {c['read_sectors'] * 32 / read:.3f}), tensor instructions {tensor:.1%}, {each:.0f} multiply-adds an instruction")
sys.exit(not (conflicts == 0 and c["read_sectors"] * 32 == read and brought <= 1.0 and each >= least and
             tensor >= share and c["products"] == n * n * k and c["bulk_bytes"] == boxed * read))
PY
}
counts 580 0.28 128 128 -s ./warps.json
boxed=1
counts 2500 0 128 256 -s ./four.json
counts 1500 0 64 128
finish
