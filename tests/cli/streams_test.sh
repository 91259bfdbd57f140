#!/bin/sh
# Streams, signals, colours, start-up.  ctest: serial large
. "$SOURCE/tests/cli/expect.sh"

# a full disk behind standard output
checked=$((checked + 1))
"$TESSERA" help >/dev/full 2>"$dir/err"
[ $? = 8 ] || wrong "help > /dev/full: not exit code 8"
grep -q '^error: cannot write to standard output' "$dir/err" || wrong "help > /dev/full: $(cat "$dir/err")"

# JSON and colours
for line in 'version' 'help' 'help bench' 'help exit' 'ops' 'completion bash'; do
    checked=$((checked + 1))
    # shellcheck disable=SC2086
    "$TESSERA" $line --json | python3 -m json.tool >/dev/null || wrong "$line --json is no JSON"
done
escape=$(printf '\033')
colours() { # WANTED OPTION...
    want=$1
    shift
    checked=$((checked + 1))
    if "$TESSERA" help "$@" | grep -q "$escape"; then got=colours; else got=none; fi
    [ $got = "$want" ] || wrong "help $*: $got, expected $want"
}
colours none
colours colours --color always
colours none --color never
NO_COLOR=1 TERM=xterm colours none

python3 - "$TESSERA" <<'PY' || wrong "signals, terminals or start-up"
import os, pty, signal, subprocess, sys, time
tessera, bad = sys.argv[1], 0

def check(ok, what):
    global bad
    if not ok:
        bad += 1
        print(what, file=sys.stderr)

# stopped while it waits for its input
for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
    p = subprocess.Popen([tessera, "compare", "-", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.3)
    p.send_signal(number)
    check(p.wait(10) == code, f"{number!r}: exit code {p.returncode}, expected {code}")

# a terminal gets colours, unless it is dumb or NO_COLOR is set
def colours(**environment):
    main, side = pty.openpty()
    keep = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM")}
    subprocess.run([tessera, "help"], stdout=side, stderr=side, env=dict(keep, **environment))
    os.close(side)
    text = os.read(main, 1 << 16)
    os.close(main)
    return b"\033" in text
check(colours(TERM="xterm"), "no colours in a terminal")
check(not colours(TERM="dumb"), "colours in a dumb terminal")
check(not colours(TERM="xterm", NO_COLOR="1"), "colours in spite of NO_COLOR")
check(not colours(), "colours without TERM")

# the least of many starts: a busy machine only adds
best = 1
for _ in range(40):
    begin = time.perf_counter()
    subprocess.run([tessera, "version"], stdout=subprocess.DEVNULL)
    best = min(best, time.perf_counter() - begin)
check(best < 0.010, f"start-up takes {best * 1e3:.1f} ms, 10 are allowed")
sys.exit(bad > 0)
PY
finish
