# line_test.sh - one line of an operation with its operands is a model to every verb: run, explain, bench, check-grad.
set -eu
line='softmax f32[6,40] axis=1'
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
failed=0
complain() { echo "$*"; failed=1; }

"$TESSERA" run "$line" --seed 3 --target interp -o "$out/want" >/dev/null
"$TESSERA" run "$line" --seed 3 --target c --cache-dir "$out/cache" -o "$out/got" >/dev/null
python3 - "$out" <<'PY' || failed=1
import numpy, sys
want, got = (numpy.load(f"{sys.argv[1]}/{which}/y.npy") for which in ("want", "got"))
off = abs(want - got).max()
assert want.shape == (6, 40) and abs(want.sum(axis=1) - 1).max() < 1e-6, want
assert off <= 40 ** 0.5 * 2 ** -23, f"c differs from interp by {off}"
PY
"$TESSERA" explain "$line" >"$out/explain"
grep -q '^k0  softmax f32  y ' "$out/explain" || { cat "$out/explain"; complain "explain does not show the kernel of '$line'"; }
"$TESSERA" explain "$line" --json >"$out/plan"
python3 - "$out" <<'PY'
import json, sys
plan = json.load(open(f"{sys.argv[1]}/plan"))
(k,) = plan["kernels"]
of = " ".join([k["op"], k["dtype"], *(f"{a}={n}" for a, n in k["dims"].items()), *(s["name"] for s in k["stages"])])
rows = [{"format": "tune-log/2", **{x: plan[x] for x in ("target", "isa", "threads", "machine")}, "schema": "guess"},
        {"kernel": of, "change": {"loops": "own"}, "status": "correct", "time_ns": 7}]  # nobody timed the schema's
open(f"{sys.argv[1]}/log", "w").writelines(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
PY
"$TESSERA" explain "$line" --log "$out/log" >"$out/explain"
grep -q 'tune tried 1 other: own; the time under guess is not known$' "$out/explain" ||
    { cat "$out/explain"; complain "explain --log does not say what the log does not know"; }
"$TESSERA" bench "$line" --cache-dir "$out/cache" --min-time 0.02s --launches 1 --json >"$out/results" 2>"$out/notes" ||
    { cat "$out/notes"; complain "bench fails"; }
# The machine may be too busy for a time to be valid; the numbers are checked all the same
grep -q '"max_rel": *[0-9]' "$out/results" || { cat "$out/notes"; complain "bench does not check the numbers of '$line'"; }
"$TESSERA" check-grad "$line" >"$out/grad" || { cat "$out/grad"; complain "check-grad fails"; }
[ "$failed" = 0 ] && echo "line: run, explain, bench and check-grad take '$line'"
exit "$failed"
