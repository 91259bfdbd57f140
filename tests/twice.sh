#!/bin/sh
# twice.sh - no function stands twice: two in the sources with the same parameters, result and body, whatever they and
# their parameters are called, belong into one place that both can include. Bodies that call a function of their own
# file differ by it. Text that travels with emitted programs (runtime) includes nothing, and may repeat; so do programs
# beside the bench, which include the public header alone.
set -eu
cd "${SOURCE:-$(dirname "$0")/..}"
git ls-files -co --exclude-standard -- '*.c' ':!tests' ':!backends/*/runtime/*' ':!bench/peers' | LC_ALL=C xargs awk -f tests/source.awk |
    LC_ALL=C awk '
# Every word of s that is w, as to.
function renamed(s, w, to,   out) {
    out = ""
    while (match(s, "(^|[^A-Za-z0-9_])" w "([^A-Za-z0-9_]|$)")) {
        at = index(substr(s, RSTART), w) + RSTART - 1
        out = out substr(s, 1, at - 1) to
        s = substr(s, at + length(w))
    }
    return out s
}
function finish(   at, name, given, n, i, part, key, w) {
    name = head; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)
    given = head; sub(/^static /, "", given); sub(name, "self", given)
    while (name != "self" && match(body, "(^|[^A-Za-z0-9_])" name "\\(")) { at = RSTART + RLENGTH - length(name) - 1; body = substr(body, 1, at - 1) "self" substr(body, at + length(name)) }
    n = split(substr(head, index(head, "(")), part, /[,()]+/)
    for (i = 1; i <= n; i++) {
        w = part[i]; sub(/(\[[^]]*\])+ *$/, "", w); sub(/.*[ *]/, "", w)
        if (w ~ /^[a-z]/) { given = renamed(given, w, "$" i); body = renamed(body, w, "$" i) }
    }
    functions++
    text[functions] = given body; place[functions] = file ":" line; of[functions] = file; called[functions] = name
    if (head ~ /^static /) own[file] = own[file] " " name
}
{
    match($0, /^[^:]*:[0-9]+:/)
    where = substr($0, 1, RLENGTH - 1); code = substr($0, RLENGTH + 1)
    gsub(/[ \t]+/, " ", code)
    if (code ~ /^[A-Za-z_].*\(/ && code !~ /;$/) { head = code; file = where; sub(/:.*/, "", file); line = where; sub(/.*:/, "", line); inside = 0 }
    else if (code ~ /^\{/ && head != "") { inside = 1; body = "" }
    else if (code ~ /^\}/ && inside) { finish(); inside = 0; head = "" }
    else if (inside) body = body " " code
    else if (head != "") head = head code
}
END {
    for (i = 1; i <= functions; i++) {
        n = split(own[of[i]], w, " ")
        for (k = 1; k <= n; k++) if (index(text[i], w[k] "(")) text[i] = text[i] " of " of[i]
        if (text[i] in first) {
            j = first[text[i]]
            print place[i] ": " called[i] " has the body of " called[j] " (" place[j] "): one place for both"
            bad++
        } else first[text[i]] = i
    }
    printf "twice: %d functions, %d of them a second time\n", functions, bad
    exit bad > 0 || !functions
}'
