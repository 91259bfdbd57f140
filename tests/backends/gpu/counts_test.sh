#!/bin/sh
# ctest: large O3
# counts_test.sh - what explain says of products against what the stand-in for CUDA's driver counts: sectors of global
# memory, passes over the banks of shared memory, conflicts. Exact where steps divide the extents; where they do not, to
# a tenth. Kernels of models, padding and gradients among them: backends/cuda/foretold.
set -eu
sim=$BUILD/tests/gpusim/libcuda.so.1
[ -e "$sim" ] || { echo "skipped: no stand-in for the driver of CUDA: it is built for x86-64"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export TESSERA_CUDA="driver=$sim,ptx,${TESSERA_CUDA:-}" SIMCUDA_CHECK=none
try() { # M K N RELATION
    dims="--dim m=$1 --dim k=$2 --dim n=$3 --dim layers=1"
    # shellcheck disable=SC2086
    {
        SIMCUDA_COUNTS="$dir/counts" "$TESSERA" run products $dims --seed 1 --target cuda -q --out "$dir/out" >"$dir/said" 2>&1 || {
            grep -q 'no NVRTC' "$dir/said" && echo "skipped: no NVRTC" && exit 77
            cat "$dir/said"
            exit 1
        }
        "$TESSERA" explain products $dims --target cuda --json >"$dir/plan"
    }
    python3 - "$dir" "$4" "$1 by $2 by $3" <<'PY'
import json, sys
folder, relation, what = sys.argv[1:]
with open(f"{folder}/counts") as f:
    counted = [json.loads(line) for line in f]
with open(f"{folder}/plan") as f:
    kernels = json.load(f)["kernels"]
assert len(counted) == len(kernels) == 1, (counted, kernels)
group, counted = kernels[0]["group"], counted[0]


def foretold(space, of):
    return group["groups"] * sum(a[of] * a["times"] for a in group["accesses"] if a["space"] == space)


sectors = counted["read_sectors"] + counted["write_sectors"]
pairs = {"moved": (group["groups"] * group["moved_bytes"] / 32, sectors)}
if relation == "exact":
    pairs["sectors"] = (foretold("global", "sectors"), sectors)
    passes, least = foretold("shared", "cycles"), foretold("shared", "least")
    pairs |= {"passes": (passes, counted["passes"]), "conflicts": (passes - least, counted["conflicts"])}
for name, (said, found) in pairs.items():
    good = found == said if relation == "exact" else abs(said - found) <= 0.1 * found
    assert good, f"{what}: {name}: foretold {said:.0f}, counted {found}, {kernels[0]['loops']}"
print(what, pairs)
PY
}
try 64 64 64 exact
try 128 96 128 exact
try 256 32 64 exact
try 37 70 50 near
try 65 33 130 near
try 7 100 31 near
