# expect.sh - what the tests of the command share; sourced. Counts failures and goes on; end with `finish`.
# shellcheck shell=sh
failed=0 checked=0
dir=$(mktemp -d) replies=$(mktemp -d)
trap 'rm -rf "$dir" "$replies"' EXIT
unset NO_COLOR TERM

wrong() {
    failed=$((failed + 1))
    printf '%s\n' "$@" >&2
}

# expect CODE TEXT ARGUMENT...: the command ends with CODE and standard error (or output, if CODE is 0) holds TEXT. Any other
# code than 0 leaves standard output empty; with --json the same failure is one JSON object there.
expect() {
    code=$1 text=$2
    shift 2
    checked=$((checked + 1))
    "$TESSERA" "$@" >"$dir/out" 2>"$dir/err" </dev/null
    got=$?
    [ "$got" = "$code" ] || wrong "tessera $*: exit code $got, expected $code" "$(head -c 300 "$dir/err")"
    if [ "$code" = 0 ]; then
        grep -qF -- "$text" "$dir/out" "$dir/err" || wrong "tessera $*: nowhere \"$text\"" "$(head -c 900 "$dir/out" "$dir/err")"
        return
    fi
    grep -qF -- "$text" "$dir/err" || wrong "tessera $*: standard error lacks \"$text\"" "$(head -c 300 "$dir/err")"
    grep -q '^error: ' "$dir/err" || wrong "tessera $*: no error: line" "$(head -c 300 "$dir/err")"
    [ -s "$dir/out" ] && wrong "tessera $*: standard output is not empty" "$(head -c 300 "$dir/out")"
    verb=$1
    shift
    "$TESSERA" "$verb" --json "$@" >"$replies/$checked.json" 2>/dev/null </dev/null
    [ "$?" = "$code" ] || wrong "tessera $verb --json $*: another exit code"
    printf '%s\t%s\t%s\n' "$checked" "$code" "$verb --json $*" | tr '\n' ' ' >>"$replies/list"
    echo >>"$replies/list"
}

# later WHAT CODE: CODE, in Python, holds of the files that are here at the end, or WHAT is wrong. All of it runs in one process:
# starting one for each would take longer than what they do. With a file lib.py, CODE has its names.
later() {
    checked=$((checked + 1))
    printf '%s\0%s\0' "$1" "$2" >>"$replies/later"
}

hold_later() {
    "${PYTHON:-python3}" - "$replies/later" <<'PY'
import os, sys, traceback
parts, bad, known = open(sys.argv[1]).read().split("\0"), 0, {}
if os.path.exists("lib.py"):
    exec("from lib import *", known)
for what, code in zip(parts[::2], parts[1::2]):
    try:
        exec(compile(code, what, "exec"), dict(known))
    except BaseException as e:
        if isinstance(e, SystemExit) and not e.code:
            continue  # that one has nothing more to say
        bad += 1
        print(what, code, traceback.format_exc(limit=-1), sep="\n", file=sys.stderr)
sys.exit(min(bad, 125))
PY
}

# All error objects at once: starting Python for each would take longer than everything else.
finish() {
    [ ! -e "$replies/later" ] || hold_later || failed=$((failed + $?))
    [ ! -e "$replies/list" ] || python3 - "$replies" <<'PY' || wrong "with --json a failure is not the error object"
import json, sys
bad = 0
for line in open(sys.argv[1] + "/list", errors="replace"):
    number, code, command = line.rstrip().split("\t", 2)
    try:
        error = json.load(open(f"{sys.argv[1]}/{number}.json"))["error"]
        good = error["code"] == int(code) and error["text"]
    except (ValueError, KeyError, TypeError):
        good = False
    if not good:
        bad += 1
        print("tessera", command, file=sys.stderr)
sys.exit(bad > 0)
PY
    echo "$checked command lines, $failed failures"
    [ "$checked" -gt 0 ] && [ "$failed" = 0 ]
    exit
}
