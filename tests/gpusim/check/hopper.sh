# hopper.sh - for tests of what a card of capability 9.0 has of its own: kernels of hopper.cu, right ones and mistakes.
# shellcheck shell=sh
sim=$BUILD/tests/gpusim
[ -x "$sim/gpusim-hopper" ] || { echo "skipped: no cuda.h or no x86-64 processor"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
headers=$(sed -n 's/^CUDA_HEADERS:PATH=//p' "$BUILD/CMakeCache.txt")
export SIMCUDA_SM=90 SIMCUDA_CHECK=all
compile() { # NUMBER
    "$sim/gpusim-compile" compute_90a "$SOURCE/tests/gpusim/check/hopper.cu" "$dir/$1.ptx" -lineinfo -std=c++17 \
        -default-device "--include-path=$headers" "-DMUTANT=$1"
}
right() { # KERNEL...
    for kernel; do
        "$sim/gpusim-hopper" "$dir/0.ptx" "$kernel"
        SIMCUDA_ORDER=reverse "$sim/gpusim-hopper" "$dir/0.ptx" "$kernel"
    done
}
mutant() { # NUMBER KERNEL TEXT
    compile "$1"
    "$sim/gpusim-hopper" "$dir/$1.ptx" "$2" "$3"
}
compile 0 || { [ $? = 77 ] && echo "skipped: no NVRTC" && exit 77 || exit 1; }
