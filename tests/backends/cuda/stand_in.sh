# stand_in.sh - for the tests of CUDA that are scripts: commands run on the stand-in for the driver, with all its checks.
# shellcheck shell=sh
sim=$BUILD/tests/gpusim/libcuda.so.1
[ -e "$sim" ] || { echo "skipped: no stand-in for the driver of CUDA: it is built for x86-64"; exit 77; }
export TESSERA_CUDA="driver=$sim,ptx,${TESSERA_CUDA:-}" SIMCUDA_CHECK="${SIMCUDA_CHECK:-all}"
said=$("$TESSERA" run products --dim m=4 --dim k=4 --dim n=4 --dim layers=1 --seed 1 --target cuda -q 2>&1 >/dev/null)
case $said in *"there is no NVRTC"*) echo "skipped: no NVRTC"; exit 77 ;; esac
