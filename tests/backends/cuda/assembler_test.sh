#!/bin/sh
# ctest: large O3
# explain says what the assembler took of each kernel, beside what is foretold: the same bytes of shared memory, registers
# of which occupancy, waves and time follow, no spills; the second time it comes from the cache. Where there is none, it
# says why, and what is estimated.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
said=$("$TESSERA" explain products --dim layers=1 --target cuda --machine gpu:h100 --cache-dir cache)
case $said in *"there is no NVRTC"*) echo "skipped: no NVRTC"; exit 77 ;; esac
for line in ' lanes  [0-9]* registers (estimated: [0-9]*)  0 B spilled  .* shared  occupancy' 'assembler: NVRTC .* for sm_90a:'; do
    checked=$((checked + 1))
    echo "$said" | grep -q "$line" || wrong "no line \"$line\": $said"
done
checked=$((checked + 1))
entries=$(find cache -name object | wc -l)
[ "$entries" -gt 0 ] || wrong "nothing is kept in the cache"
"$TESSERA" explain products --dim layers=1 --target cuda --machine gpu:h100 --cache-dir cache >/dev/null
[ "$(find cache -name object | wc -l)" = "$entries" ] || wrong "the second time it is assembled again"

for machine in gpu:a100 gpu:h100; do
    checked=$((checked + 1))
    "$TESSERA" explain bert-tiny --target cuda --machine $machine --cache-dir cache --json >plan.json
    TESSERA_CUDA=nvrtc=/nowhere "$TESSERA" explain bert-tiny --target cuda --machine $machine --json >estimated.json
    "${PYTHON:-python3}" - <<'PY' || wrong "$machine: assembled otherwise than foretold"
import json, sys
def groups(name):
    with open(name) as f:
        plan = json.load(f)
    return plan["build"]["assembler"], [k["group"] for k in plan["kernels"]]
by, told = groups("plan.json")
none, foretold = groups("estimated.json")
def warps(g): # that 65536 registers are enough for, of 256 at a time, to four warps at a time
    return 65536 // (-(-g["registers"] * 32 // 256) * 256) // 4 * 4
bad = [g for g in told if g["shared_bytes"] != g["estimated"]["shared_bytes"] or g["spilled_bytes"]]
bad += [g for g in told + foretold if g["limit"] == "registers" and g["resident"] != warps(g) // (-(-g["lanes"] // 32))]
bad += [(g, f) for g, f in zip(told, foretold) if g["estimated"]["registers"] != f["registers"] or "estimated" in f]
slower = [g for g, f in zip(told, foretold) if g["resident"] < f["resident"]]
print(by, none, len(told), "kernels,", len(slower), "with fewer groups at once than estimated", bad)
sys.exit(bool(bad) or not told or set(by) != {"name", "arch"} or set(none) != {"reason"} or
         all(g["registers"] == g["estimated"]["registers"] for g in told))
PY
done
# A scan as one kernel calls those of its trips, by itself too, with and without an assembler.
"$TESSERA" explain adbench-lstm --target cuda --machine gpu:h100 --cache-dir cache --json >plan.json
TESSERA_CUDA=nvrtc=/nowhere "$TESSERA" explain adbench-lstm --target cuda --machine gpu:h100 --json >estimated.json
for file in plan.json estimated.json; do
    checked=$((checked + 1))
    grep -q '"assembler":' $file || wrong "a plan with a scan is not assembled: $(head -c 300 $file)"
done
# exact: the reason ends the page, without a hint
checked=$((checked + 1))
TESSERA_CUDA=nvrtc=/nowhere/libnvrtc.so "$TESSERA" explain products --dim layers=1 --target cuda --machine gpu:h100 >said ||
    wrong "explain needs NVRTC"
grep -qx 'assembler: none, registers and what follows from them are estimated: there is no NVRTC, the compiler of CUDA: /nowhere/libnvrtc.so: .*' said ||
    wrong "no reason: $(tail -1 said)"
grep -q 'lanes  about [0-9]* registers  .* shared' said || wrong "registers are not said to be estimated"
finish
