#!/bin/sh
# compare.sh [-d DATA] [--min-time TIME] - objectives of ADBench and their derivatives, plain C divided by Tessera, on
# one thread, in turns. Without DATA, a folder as ADBench has it, of numbers from a seed. Needs cc, or $CC, and tessera
# in $TESSERA or the PATH. $ADBENCH, a folder where ADBench is built, adds rows of its own tools, Manual and Tapenade,
# for files of DATA, else of its own data.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tessera=${TESSERA:-tessera} data=${ADBENCH:+$ADBENCH/data} least=500ms
while [ $# -gt 1 ]; do
    case $1 in
        -d) data=$2 ;;
        --min-time) least=$2 ;;
        *) break ;;
    esac
    shift 2
done
[ $# = 0 ] || { echo "usage: compare.sh [-d DATA] [--min-time TIME]" >&2; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for name in gmm ba lstm hand hand-us; do
    ${CC:-cc} -std=c11 -O3 -march=native -ffast-math -fPIC -shared -I"$here/../../.." "$here/$name.c" -o "$folder/$name.so" -lm
done
far=0
number() { # KEY: its first number in a JSON object
    awk -v key="$1" '{ all = all $0 }
        END { if (match(all, "\"" key "\":[ \t]*[-+.0-9e]+")) print substr(all, RSTART + length(key) + 3, RLENGTH - length(key) - 3) + 0 }'
}
line() { # TITLE PEER VALUES DERIVATIVE RATIO RATIO APART
    awk -v title="$1" -v peer="$2" -v v="$3" -v d="$4" -v cv="$5" -v cd="$6" -v apart="$7" 'BEGIN {
        printf "%-34s %-10s %9.3g %9.3g %6.2f %10.2f %10.2f %9.2g\n", title, peer, v, d, d / v, cv, cd, apart }'
}

# With plain C, in one process
row() { # NAME [FILE|--dim ...]
    "$tessera" adbench "$@" --against "$folder/$1.so" --threads 1 --min-time "$least" --json >"$folder/out.json" || far=1
    tr -d '\n' <"$folder/out.json" | sed 's/.*"against"/"against"/' >"$folder/against.json"
    line "$(echo "$*" | sed 's|[^ ]*/||; s/--dim //g')" "plain C" \
        "$(number objective_seconds <"$folder/out.json")" "$(number derivative_seconds <"$folder/out.json")" \
        "$(number objective_ratio <"$folder/against.json")" "$(number derivative_ratio <"$folder/against.json")" \
        "$(number difference <"$folder/against.json")"
}

# With a tool of ADBench, each by its own runner, three times in turns: of each the shortest times count.
tool() { # TOOL NAME FILE
    module=$(find "$ADBENCH" -name "lib$1.so" | head -n 1)
    [ -n "$module" ] || return 0
    test=$(echo "$2" | tr '[:lower:]' '[:upper:]')
    seconds=$(echo "$least" | awk '{ print $0 * ($0 ~ /ms$/ ? 1e-3 : 1) }')
    rm -rf "$folder/theirs" "$folder/ours" "$folder/turns"
    mkdir "$folder/theirs" "$folder/ours"
    for turn in 1 2 3; do
        "$runner" "$test" "$module" "$3" "$folder/theirs/" "$seconds" 10 10 60 >"$folder/said" 2>&1 ||
            { cat "$folder/said" >&2; far=1; return 0; }
        "$tessera" adbench runner "$test" - "$3" "$folder/ours" "$seconds" 10 10 60 --threads 1 -q >/dev/null || far=1
        cat "$folder"/theirs/*_times_* "$folder"/ours/*_times_* | tr -s '\n ' ' ' >>"$folder/turns"
        echo >>"$folder/turns"
    done
    awk '{ for (i = 1; i <= 4; i++) if (NR == 1 || $i < least[i]) least[i] = $i }
        END { print least[3], least[4], least[1] / least[3], least[2] / least[4] }' "$folder/turns" >"$folder/times"
    "$tessera" adbench "$2" "$3" --reference "$(ls "$folder"/theirs/*_J_*)" --threads 1 --min-time 1ms --json >"$folder/out.json" ||
        far=1
    # shellcheck disable=SC2046 # four numbers
    line "$2 ${3##*/}" "$1" $(cat "$folder/times") "$(number reference <"$folder/out.json")"
}

printf '%-34s %-10s %9s %9s %6s %10s %10s %9s\n' problem peer values/s deriv/s d/v 'peer÷ours v' 'peer÷ours d' apart
runner=${ADBENCH:+$(find "$ADBENCH" -name CppRunner -type f | head -n 1)}
[ -z "${ADBENCH:-}" ] || [ -n "$runner" ] || { echo "compare.sh: no CppRunner in $ADBENCH: it is not built" >&2; exit 2; }
if [ -n "$data" ]; then
    for file in "$data"/gmm/1k/*.txt "$data"/ba/ba1_*.txt "$data"/ba/ba5_*.txt "$data"/lstm/*.txt; do
        [ -e "$file" ] || continue # a part of the data
        name=$(echo "${file#"$data"/}" | sed 's|/.*||')
        row "$name" "$file"
        [ -z "$runner" ] || { tool Manual "$name" "$file" && tool Tapenade "$name" "$file"; }
    done
else
    row gmm --dim d=64 && row ba && row lstm
fi
row hand && row hand --dim n=10000 && row hand-us && row hand-us --dim n=10000
[ -n "$runner" ] || echo "ADBench's own tools are left out: \$ADBENCH names no folder where it is built"
exit $far
