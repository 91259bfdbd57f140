# expect.sh - what the tests of the command share; sourced. Counts failures and goes on; end with `finish`.
# shellcheck shell=sh
failed=0 checked=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
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
        grep -qF -- "$text" "$dir/out" "$dir/err" || wrong "tessera $*: nowhere \"$text\"" "$(cat "$dir/out" "$dir/err")"
        return
    fi
    grep -qF -- "$text" "$dir/err" || wrong "tessera $*: standard error lacks \"$text\"" "$(head -c 300 "$dir/err")"
    grep -q '^error: ' "$dir/err" || wrong "tessera $*: no error: line" "$(head -c 300 "$dir/err")"
    [ -s "$dir/out" ] && wrong "tessera $*: standard output is not empty" "$(head -c 300 "$dir/out")"
    verb=$1
    shift
    "$TESSERA" "$verb" --json "$@" >"$dir/json" 2>/dev/null </dev/null
    [ "$?" = "$code" ] || wrong "tessera $verb --json $*: another exit code"
    python3 - "$dir/json" "$code" 2>/dev/null <<'PY' || wrong "tessera $verb --json $*: not the error object" "$(head -c 300 "$dir/json")"
import json, sys
error = json.load(open(sys.argv[1]))["error"]
sys.exit(not (error["code"] == int(sys.argv[2]) and error["text"]))
PY
}

finish() {
    echo "$checked command lines, $failed failures"
    [ "$checked" -gt 0 ] && [ "$failed" = 0 ]
    exit
}
