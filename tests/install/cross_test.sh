#!/bin/sh
# cross_test.sh - Tessera itself for AArch64, by the cross compiler, run by an emulator: it knows what the processor has,
# its kernels compute what its interpreter does, problems of operations and small models, and a program that it emits is
# byte for byte the one that is emitted here. AARCH64_ROOT: a folder of aarch64_root.sh.
# ctest: large
set -eu
unset COMPILER_PATH # where a linker of this machine lies
for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
    command -v $tool >/dev/null || { echo "skipped: no $tool (Debian: gcc-aarch64-linux-gnu, qemu-user)"; exit 77; }
done
[ -e "${AARCH64_ROOT:-}/complete" ] ||
    { echo "skipped: no libraries for AArch64: AARCH64_ROOT is to be a folder that tests/install/aarch64_root.sh made"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
arm=$BUILD/aarch64
[ -e "$arm/build.ninja" ] ||
    cmake -S "$SOURCE" -B "$arm" -G Ninja -DCMAKE_TOOLCHAIN_FILE=cmake/aarch64.cmake -DROOT="$AARCH64_ROOT" \
        -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O1 -DNDEBUG" -DTESSERA_COUNT=OFF >"$dir/log" 2>&1 ||
    { cat "$dir/log"; rm -rf "$arm"; exit 1; }
cmake --build "$arm" -j2 --target command backends-c-cases-test >"$dir/log" 2>&1 || { tail -40 "$dir/log"; exit 1; }

cd "$dir"
printf '#!/bin/sh\nexec aarch64-linux-gnu-gcc "$@" -Og\n' >cc # what makes kernels need not be emulated
chmod +x cc
TESSERA_CC=$dir/cc
export TESSERA_CC
on_arm() {
    qemu-aarch64 -L "$AARCH64_ROOT" "$@"
}
on_arm "$arm/tessera" doctor --json >machine
python3 - <<'PY'
import json
machine = json.load(open("machine"))["machine"]
assert machine["isa"] == "neon" and [i["name"] for i in machine["isas"]] == ["plain", "neon"], machine
PY
on_arm "$arm/tests/backends-c-cases-test" 150 0
for model in bert-tiny gpt2-tiny resnet-tiny; do
    for target in c interp; do
        on_arm "$arm/tessera" run $model --seed 1 --target $target -q --out $target/$model >/dev/null
    done
    "$TESSERA" run $model --seed 1 --target interp -q --out here/$model >/dev/null
done
python3 - <<'PY'
import glob, numpy as np
for path in glob.glob("interp/*/*.npy"):
    want, got, here = (np.load(path.replace("interp", of)) for of in ("interp", "c", "here"))
    assert (want == here).all(), path + ": the interpreter is another on each processor"
    np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-5 * max(1, abs(want).max()), err_msg=path)
PY
for how in "core:2 isa:neon" "core:2 isa:avx2"; do
    rm -rf here there
    "$TESSERA" emit bert-tiny --machine "$how" --threads 2 -q -o here
    on_arm "$arm/tessera" emit bert-tiny --machine "$how" --threads 2 -q -o there
    diff -r -x weights.bin here there || { echo "$how: what is emitted is another on each processor"; exit 1; }
done
