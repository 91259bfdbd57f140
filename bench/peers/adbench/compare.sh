#!/bin/sh
# compare.sh [-d DATA] [--min-time TIME] - objectives of ADBench and their derivatives, plain C divided by Tessera, on
# one thread, in turns. Without DATA, a folder as ADBench has it, of numbers from a seed. Needs cc, or $CC, and tessera
# in $TESSERA or the PATH.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tessera=${TESSERA:-tessera} data= least=500ms
while [ $# -gt 0 ]; do
    case $1 in
        -d) data=$2 ;;
        --min-time) least=$2 ;;
        *) echo "usage: compare.sh [-d DATA] [--min-time TIME]" >&2; exit 2 ;;
    esac
    shift 2
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for name in gmm ba lstm hand hand-us; do
    ${CC:-cc} -std=c11 -O3 -march=native -ffast-math -fPIC -shared -I"$here/../../.." "$here/$name.c" -o "$folder/$name.so" -lm
done
far=0
row() { # NAME [FILE|--dim ...]
    "$tessera" adbench "$@" --against "$folder/$1.so" --threads 1 --min-time "$least" --json >"$folder/out.json" || far=1
    title=$(echo "$*" | sed 's|[^ ]*/||; s/--dim //g')
    awk -v title="$title" '
        function of(key,   s) { s = $0; if (!match(s, "\"" key "\":[ \t]*")) return "-"
            s = substr(s, RSTART + RLENGTH); sub(/[,} \t\n].*/, "", s); return s }
        { all = all $0 }
        END {
            $0 = all; own = of("objective_seconds"); slope = of("derivative_seconds"); near = of("difference")
            sub(/.*"against"/, ""); v = of("objective_ratio"); d = of("derivative_ratio"); apart = of("difference")
            printf "%-34s %9.3g %9.3g %6.2f %10.2f %10.2f %9.2g\n", title, own, slope, slope / own, v, d, apart
        }' "$folder/out.json"
}
printf '%-34s %9s %9s %6s %10s %10s %9s\n' problem values/s deriv/s d/v 'C÷ours v' 'C÷ours d' apart
if [ -n "$data" ]; then
    for file in "$data"/gmm/1k/*.txt "$data"/ba/ba1_*.txt "$data"/ba/ba5_*.txt "$data"/lstm/*.txt; do
        row "$(echo "${file#"$data"/}" | sed 's|/.*||')" "$file"
    done
else
    row gmm --dim d=64 && row ba && row lstm
fi
row hand && row hand --dim n=10000 && row hand-us && row hand-us --dim n=10000
exit $far
