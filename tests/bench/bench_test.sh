#!/bin/sh
# bench_test.sh - the whole way: a model, two schemas, one verdict; results that parse; comparing files.
# Times are only asked for what nobody can miss: a tiled product against textbook loops.  ctest: serial O3
. "$SOURCE/tests/cli/expect.sh"
. "$SOURCE/tests/bench/product.sh"
quick="--min-time 60ms --launches 3 --threads 1"
# shellcheck disable=SC2086
"$TESSERA" bench "$dir/product.json" -s guess -s naive $quick --json >"$dir/r.json" 2>"$dir/err"
[ $? = 0 ] || wrong "bench: $(cat "$dir/err")"
python3 - "$dir/r.json" <<'PY'
import json, sys
r = json.load(open(sys.argv[1]))
assert r["format"] == "results/1"
assert r["environment"]["threads"] == 1 and r["environment"]["isa"] and r["environment"]["cpu"]
assert r["ceilings"]["fma_f32_gflops"] > 0 and r["ceilings"]["read_gbs"] > 0
a, b = r["candidates"]
for c in a, b:
    assert c["status"] == "VALID" and c["reason"] is None, c["reason"]
    s = c["stats"]
    assert sum(len(launch) for launch in c["samples"]) == r["machine_state"]["rounds"] and len(c["samples"]) == 3
    assert s["n"] == r["machine_state"]["counted_rounds"]
    assert 0 < s["min_ns"] <= s["median_ns"] <= s["p90_ns"], s
    assert c["memory"]["peak_bytes"] > 1e6
    assert set(c["build"]["phases"]) >= {f"{p}_s" for p in ("plan", "texts", "compiler", "assembler", "linker", "load")}
    assert 0 <= c["numerics"]["max_rel"] <= 1e-4 == c["numerics"]["tolerance"]
    assert c["kernels"] and sum(k["flops"] for k in c["kernels"]) >= 2 * 256 * 512 * 512
    for k in c["kernels"]:
        assert set(k) >= {"name", "op", "rule", "calls", "median_ns", "flops", "bytes", "peak_share"}
        assert k["median_ns"] > 0 and 0 < k["peak_share"] < 1.2, k
(c,) = r["comparisons"]
assert (c["a"], c["b"], c["verdict"]) == ("guess", "naive", "FASTER"), c
assert c["ratio"] > 1.5 and c["low"] <= c["ratio"] <= c["high"]
assert abs(c["ratio"] * a["stats"]["median_ns"] / b["stats"]["median_ns"] - 1) < 0.3  # time of b / time of a
sys.exit(77 if r["machine_state"]["state"] == "overloaded" else 0)  # two files of such a machine are not compared
PY
case $? in
0) decided=yes ;;
77) decided= ;;
*) wrong "results: $(head -c 2000 "$dir/r.json")" ;;
esac

# the same file twice; the slower one after the faster one
python3 - "$dir" <<'PY'
import json, sys
r = json.load(open(sys.argv[1] + "/r.json"))
fast, slow = r["candidates"]
for name, candidate in (("fast", fast), ("slow", dict(slow, name=fast["name"]))):
    json.dump(dict(r, candidates=[candidate]), open(f"{sys.argv[1]}/{name}.json", "w"))
PY
slower=SLOWER faster=FASTER exit_code=1
[ "$decided" ] || slower=UNDECIDED faster=UNDECIDED exit_code=0
expect 0 "$slower" compare "$dir/fast.json" "$dir/slow.json"
expect 0 "$faster" compare "$dir/slow.json" "$dir/fast.json"
"$TESSERA" compare "$dir/fast.json" "$dir/slow.json" --fail-on slower >/dev/null 2>&1
[ $? = $exit_code ] || wrong "compare --fail-on slower: not exit code $exit_code"
"$TESSERA" compare "$dir/slow.json" "$dir/fast.json" --fail-on slower >/dev/null 2>&1
[ $? = 0 ] || wrong "compare --fail-on slower: fails although it is faster"

# shellcheck disable=SC2086
expect 0 'of a pass  GFLOP/s  of the ceiling  bound' bench "$dir/product.json" $quick --profile
grep -qE '^  (outside kernels|less in a whole pass) ' "$dir/out" || wrong "bench --profile: no row of the rest" "$(cat "$dir/out")"
finish
