#!/bin/sh
# signals_test.sh - signals while bench measures: ignored ones, ones that end it, and results that go on from there.
# ctest: Og large
. "$SOURCE/tests/cli/expect.sh"
. "$SOURCE/tests/bench/product.sh"
# a signal that is ignored, as by nohup, stops nothing
checked=$((checked + 1))
(trap '' HUP && exec "$TESSERA" bench "$dir/product.json" --min-time 1s --launches 2 --threads 1 -q >/dev/null 2>"$dir/err") &
pid=$!
sleep 1
kill -HUP $pid
wait $pid || wrong "bench under nohup: exit code $?" "$(cat "$dir/err")"

# a signal in the middle: its exit code, and no process or file left behind
checked=$((checked + 1))
"$TESSERA" bench "$dir/product.json" --min-time 30s >/dev/null 2>&1 &
pid=$!
for turn in $(seq 200); do
    ls -d "$dir"/tessera-bench-*/0.log >/dev/null 2>&1 && break # a contestant is at work
    sleep 0.1
done
kill -TERM $pid
wait $pid
[ $? = 143 ] || wrong "SIGTERM while measuring: not exit code 143, after $turn turns"
ls -d "$dir"/tessera-bench-* 2>/dev/null && wrong "SIGTERM while measuring: its folder is left"

# a signal while samples are taken: they are kept, and the same command goes on from there. In a terminal it says ten
# times a second how far it is.
checked=$((checked + 1))
long="--min-time 1s --launches 4 --threads 1 -o $dir/cut.json"
# shellcheck disable=SC2086
python3 - "$TESSERA" bench "$dir/product.json" $long >"$dir/said" <<'PY' || wrong "SIGTERM while sampling" "$(tail -n 3 "$dir/said")"
import os, re, signal, subprocess, sys, tty
terminal, its = os.openpty()
tty.setraw(its)
p = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=its, env=dict(os.environ, TERM="xterm"))
os.close(its)
said, sent = b"", False
while True:
    try:
        said += os.read(terminal, 4096)
    except OSError:  # it has ended
        break
    if not sent and re.search(rb"timing \([1-9]", said):
        p.send_signal(signal.SIGTERM)
        sent = True
print(said.decode())
assert p.wait() == 143 and sent, (p.returncode, sent)
PY
grep -q "To go on: the same command with --resume $dir/cut.json" "$dir/said" || wrong "how to go on is not said" "$(tail -n 3 "$dir/said")"
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
