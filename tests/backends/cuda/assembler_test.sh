#!/bin/sh
# ctest: large
# explain says what the assembler took of each kernel, beside what is foretold: the same bytes of shared memory, registers
# of which the occupancy follows, no spills; the second time it comes from the cache. Where there is none, it says why.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
said=$("$TESSERA" explain products --dim layers=1 --target cuda --machine gpu:h100 --cache-dir cache)
case $said in *"there is no NVRTC"*) echo "skipped: no NVRTC"; exit 77 ;; esac
for line in 'assembled to [0-9]* registers  0 B spilled  .* shared  occupancy' 'assembler: NVRTC .* for sm_90a'; do
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
    "${PYTHON:-python3}" - <<'PY' || wrong "$machine: assembled otherwise than foretold"
import json, sys
with open("plan.json") as f:
    plan = json.load(f)
groups = [k["group"] for k in plan["kernels"]]
bad = [(g["shared_bytes"], g["assembled"]) for g in groups
       if g["shared_bytes"] != g["assembled"]["shared_bytes"] or g["assembled"]["spilled_bytes"]]
print(plan["build"]["assembler"], len(groups), "kernels", bad)
sys.exit(bool(bad) or not groups or set(plan["build"]["assembler"]) != {"name", "arch"})
PY
done
# exact: the reason ends the page, without a hint
checked=$((checked + 1))
TESSERA_NVRTC=/nowhere/libnvrtc.so "$TESSERA" explain products --dim layers=1 --target cuda --machine gpu:h100 >said ||
    wrong "explain needs NVRTC"
grep -qx 'assembler: none, registers are estimated: there is no NVRTC, the compiler of CUDA: /nowhere/libnvrtc.so: .*' said ||
    wrong "no reason: $(tail -1 said)"
grep -q 'assembled to' said && wrong "assembled by nothing"
finish
