#!/bin/sh
# ctest: large
# emission_test.sh - a plan as a program of its own for CUDA: it builds with the toolkit's compiler, runs on the stand-in
# for the driver without a finding, and gives the bits of a run here; an index that leads outside is said.
set -eu
sim=$BUILD/tests/gpusim
nvcc=${CUDA_HOME:-/usr/local/cuda}/bin/nvcc
[ -e "$sim/libcuda.so.1" ] || { echo "skipped: no stand-in for the driver of CUDA: it is built for x86-64"; exit 77; }
[ -x "$nvcc" ] || { echo "skipped: no nvcc"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export TESSERA_CUDA_DRIVER="$sim/libcuda.so.1" TESSERA_CUDA_PTX=1 SIMCUDA_CHECK=all

build() { # FOLDER
    make -s -C "$1" NVCCFLAGS="-ptx -arch=compute_80" LDFLAGS="-L$sim -Wl,-rpath,$sim" \
        CFLAGS="-O2 -std=c11 -Wall -Wextra -Werror -I${CUDA_HOME:-/usr/local/cuda}/include"
}
dims='--dim m=37 --dim k=70 --dim n=50 --dim layers=2'
python3 - <<'PY'
import numpy as np
np.save("x.npy", (np.arange(37 * 70).reshape(37, 70) % 5 - 2).astype(np.float32))
PY
"$TESSERA" run products $dims --in x=x.npy --target cuda -q --out here
"$TESSERA" emit products $dims --target cuda -q -o there
build there
(cd there && ./model ../x.npy)
cmp here/y.npy there/output0.npy

# On a described card nothing need be there to emit for it
TESSERA_CUDA_DRIVER=/nowhere/libcuda.so.1 "$TESSERA" emit products $dims --target cuda --machine gpu:h100 -q -o h100
grep -q 'NVCCFLAGS ?= -cubin -arch=sm_90a' h100/Makefile
grep -q '__global__' h100/k_*.cu

# A language model, with the bits of a run here; then an index that leads outside
"$TESSERA" emit gpt2-tiny --target cuda -q -o text
build text
python3 - <<'PY'
import json, numpy as np
types = {"i64": np.int64, "i32": np.int32, "f32": np.float32}
ports = json.load(open("text/ports.json"))["inputs"]
for i, p in enumerate(ports):
    v = np.arange(int(np.prod(p["shape"], dtype=np.int64))).reshape(p["shape"]) % 3
    np.save(f"{p['name']}.npy", v.astype(types[p["dtype"]]))
    if i == 0:
        np.save("outside.npy", (v + 1000000).astype(types[p["dtype"]]))
open("names", "w").write(" ".join(p["name"] for p in ports))
PY
given= files=
for name in $(cat names); do given="$given --in $name=$name.npy" files="$files ../$name.npy"; done
"$TESSERA" run gpt2-tiny $given --target cuda -q --out said
(cd text && ./model $files)
python3 - <<'PY'
import glob, json, numpy as np
for i, p in enumerate(json.load(open("text/ports.json"))["outputs"]):
    assert (np.load(f"said/{p['name']}.npy") == np.load(f"text/output{i}.npy")).all(), p["name"]
PY
first=$(cut -d' ' -f1 names)
! (cd text && ./model $(echo "$files" | sed "s,\.\./$first\.npy,../outside.npy,")) 2>said.txt
grep -q 'an index lies outside its axis' said.txt
