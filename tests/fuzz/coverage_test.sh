#!/bin/sh
# coverage_test.sh [TARGET...] - how much of the readers the files of the corpora and their damaged copies reach, as
# replay.c runs them: lines, and branches taken, of each source and of each target's sources together.
# ctest: large (sanitizers and coverage do not go together)
set -eu
cd "$SOURCE"
build=$(cd "$BUILD" && pwd) to=$(mktemp -d)
trap 'rm -rf "$to"' EXIT
[ -e "$build/build.ninja" ] && command -v gcov >/dev/null || { echo 'no ninja, or no gcov'; exit 77; }
ninja -C "$build" -t commands libtessera.a >"$to/commands"
grep -q 'clang' "$to/commands" && { echo 'gcov is for what gcc builds'; exit 77; }
least_lines=80 least_branches=68 # wanted: 90 and 80; much of what is missing writes files, or reads them from folders

readers() { # of a target
    case $1 in
        json) echo import/json.c import/json_body.c import/json_value.c ;;
        npy) echo graph/ir/npy.c ;;
        onnx) for part in reader constant tensor body scan; do echo import/onnx/$part.c; done ;;
        safetensors) echo import/safetensors.c ;;
        schema) echo schedule/schema/schema.c schedule/schema/rule.c schedule/nest/read.c ;;
        tokenizer) echo import/text/*.c ;;
    esac
}

[ $# -gt 0 ] || set -- json npy onnx safetensors schema tokenizer
for target; do
    objects='' own=$to/$target
    mkdir "$own"
    for file in $(readers "$target"); do
        object=$own/$(echo "$file" | tr / _).o
        command=$(grep -- " -c .*/$file\$" "$to/commands" |
            sed "s, -o [^ ]*\.o , -o $object ,; s, -M[TF] [^ ]*,,g; s, -MD,,; s, -O[0-3],,g; s,\$, -O0 --coverage,")
        (cd "$build" && eval "$command")
        objects="$objects $object"
    done
    # Linked before the library, they are taken in its place.
    command=$(ninja -C "$build" -t commands "tests/fuzz-$target-test" | tail -1 |
        sed "s, -o tests/[^ ]*, --coverage$objects -o $own/fuzz-$target-test,")
    (cd "$build" && eval "$command")
    "$own/fuzz-$target-test" >"$own/said" || { cat "$own/said"; exit 1; }
    for object in $objects; do
        (cd "$own" && gcov -b -n "${object%.o}.gcda" 2>/dev/null)
    done | awk -v target="$target" '
        /^File / { file = $2; gsub(/\047|\.\.\//, "", file); own = file ~ /\.c$/ }
        own && /^Lines/ { split($2, part, /[:%]/); lines = part[2]; n = $4; hit += lines * n / 100; all += n }
        own && /^Taken/ {
            split($4, part, /[:%]/); taken += part[2] * $6 / 100; branches += $6
            printf "%-12s %-28s %6.1f %% of %4d lines %6.1f %% of %4d branches\n", target, file, lines, n, part[2], $6
            own = 0 # behind the last file comes a sum of its own
        }
        END { printf "%-12s %-28s %6.1f %% of %4d lines %6.1f %% of %4d branches\n", target, "together",
                     100 * hit / all, all, 100 * taken / branches, branches }' | tee -a "$to/all"
done
awk -v lines=$least_lines -v branches=$least_branches '
    $2 == "together" && ($3 < lines || $8 < branches) { print "below " lines " and " branches " %: " $1; bad = 1 }
    END { exit bad }' "$to/all"
