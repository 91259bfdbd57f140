#!/bin/sh
# signals_test.sh - signals while bench measures: ignored ones, ones that end it, and results that go on from there.
. "$SOURCE/tests/cli/expect.sh"
. "$SOURCE/tests/bench/product.sh"
# a signal that is ignored, as by nohup, stops nothing
checked=$((checked + 1))
(trap '' HUP && exec "$TESSERA" bench "$dir/product.json" --min-time 2s --launches 2 -q >/dev/null 2>"$dir/err") &
pid=$!
sleep 1
kill -HUP $pid
wait $pid || wrong "bench under nohup: exit code $?" "$(cat "$dir/err")"

# a signal in the middle: its exit code, and no process or file left behind
checked=$((checked + 1))
"$TESSERA" bench "$dir/product.json" --min-time 30s >/dev/null 2>&1 &
pid=$!
sleep 4
kill -TERM $pid
wait $pid
[ $? = 143 ] || wrong "SIGTERM while measuring: not exit code 143"
ls -d "$dir"/tessera-bench-* 2>/dev/null && wrong "SIGTERM while measuring: its folder is left"

# a signal while samples are taken: they are kept, and the same command goes on from there
checked=$((checked + 1))
long="--min-time 12s --launches 4 --threads 1 -o $dir/cut.json"
# shellcheck disable=SC2086
"$TESSERA" bench "$dir/product.json" $long >/dev/null 2>"$dir/err" &
pid=$!
for turn in $(seq 200); do # progress is a line every ten seconds where it goes to a file
    grep -q 'timing [1-9]' "$dir/err" && break
    sleep 0.5
done
kill -TERM $pid
wait $pid
[ $? = 143 ] || wrong "SIGTERM while sampling: not exit code 143, after $turn turns" "$(tail -n 1 "$dir/err")"
grep -q "To go on: the same command with --resume $dir/cut.json" "$dir/err" || wrong "how to go on is not said" "$(tail -n 1 "$dir/err")"
# shellcheck disable=SC2086
expect 2 'seed was 0 and is 5' bench "$dir/product.json" $long --resume "$dir/cut.json" --seed 5
# shellcheck disable=SC2086
expect 0 'machine: ' bench "$dir/product.json" $long --resume "$dir/cut.json"
python3 - "$dir/cut.json" <<'PY' || wrong "resumed results are not whole"
import json, sys
r = json.load(open(sys.argv[1]))
assert "partial" not in r and len(r["candidates"][0]["samples"]) == 4
PY
finish
