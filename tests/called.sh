#!/bin/sh
# called.sh - what a header declares is called beyond the file that defines it: else it is that file's own, and static; and
# the sources call it: what tests alone call belongs to them, but for NOUN_check, the invariants of a type that only its
# own file can see. No two headers declare one name: an archive would take the first. Text that travels with emitted programs (runtime) includes nothing of this.
set -eu
cd "${SOURCE:-$(dirname "$0")/..}"
git ls-files -co --exclude-standard -- '*.c' '*.h' ':!include' ':!backends/*/runtime/*' ':!bench/peers' |
    LC_ALL=C xargs awk -v strings=no -f tests/source.awk | LC_ALL=C awk '
{
    match($0, /^[^:]*:[0-9]+:/)
    file = substr($0, 1, RLENGTH - 1); sub(/:.*/, "", file); code = substr($0, RLENGTH + 1)
    if (file ~ /\.h$/ && code ~ /^[a-z][A-Za-z_0-9 ]*[ *]\**[a-z_0-9]+\(/ && code !~ /^(static|typedef|extern) /) {
        name = code; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)
        if (!(name in first)) first[name] = file
        else if (first[name] != file && file !~ /^tests\/(gpusim|oclapart)\//) { print file ": " name " is declared in " first[name] " too: two things, two names"; twice++ }
        if (!(name in place) && file !~ /^tests\//) { place[name] = substr($0, 1, RLENGTH - 1); home[name] = file; functions++ }
    }
    n = split(code, w, /[^A-Za-z0-9_]+/)
    for (i = 1; i <= n; i++) {
        said[w[i], file]++
        if (said[w[i], file] == 1) in_files[w[i]] = in_files[w[i]] " " file
    }
}
END {
    for (name in place) {
        n = split(in_files[name], f, " "); sources = tests = own = 0
        for (i = 1; i <= n; i++) {
            if (f[i] ~ /^tests\//) tests++
            else if (f[i] != home[name]) { sources++; own += said[name, f[i]] }
        }
        own += said[name, home[name]] - 1
        if (sources > 1 || (sources == 1 && own > 1 && tests) || (said[name, home[name]] > 1) || (tests && name ~ /_check$/)) continue
        print place[name] ": " name (tests ? " is called by tests alone" : " is called in its own file alone, or nowhere")
        bad++
    }
    printf "called: %d functions of headers, %d of them not called from elsewhere\n", functions, bad
    exit bad + twice > 0 || !functions
}'
