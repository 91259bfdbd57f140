#!/bin/sh
# concurrent_test.sh - requests in parallel: passes are counted, times are those of passes, and what has no place is refused.
# ctest: O1
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
"$TESSERA" bench bert-tiny --dim seq=8 --concurrent 3 --threads 1 --min-time 200ms --json >c.json || wrong "bench --concurrent"
checked=$((checked + 1))
python3 - <<'PY' || wrong "$(cat c.json)"
import json
alone, three = json.load(open("c.json"))["rows"]
assert (alone["requests"], alone["threads"], three["requests"], three["threads"]) == (1, 1, 3, 1)
for r in alone, three:
    assert 0.2 <= r["seconds"] and abs(r["per_second"] * r["seconds"] / r["count"] - 1) < 1e-6, r
    assert 0 < r["p50_ns"] <= r["p90_ns"] and (r["p99_ns"] is None) == (r["count"] < 100), r
    assert r["p50_ns"] * r["count"] / 2 <= r["requests"] * r["seconds"] * 1e9, r  # half of them take the median at least
PY
expect 0 'threads of each' bench bert-tiny --dim seq=8 --concurrent 1 --min-time 20ms
expect 2 'and --concurrent gives rates' bench bert-tiny --concurrent 2 --report r.html
expect 2 '--concurrent is for one extent' bench bert-tiny --concurrent 2 --sweep seq=4,8
expect 2 '--concurrent times one schema' bench bert-tiny --concurrent 2 -s guess -s naive
expect 2 '1000 threads, 1 to' bench bert-tiny --concurrent 2 --threads 1000
expect 2 'concurrent' bench bert-tiny --concurrent 0
finish
