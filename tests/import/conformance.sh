# For the tests of conformance: runs cases of the ONNX project and holds the result against conformance.failing.
archive=${SHARED:-}/data/onnx/backend-cases.tar.xz
[ -r "$archive" ] || { echo "SHARED names no folder with data/onnx/backend-cases.tar.xz"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
sed 's/#.*//; s/ *$//; /^$/d' "$SOURCE/tests/import/conformance.failing" | sort >"$dir/known"
bad=0

# what every case would fail of is one message, no table of failures
code=0
"$TESSERA" onnx-test "$archive" --target zz >"$dir/out" 2>"$dir/err" || code=$?
[ $code = 2 ] && [ ! -s "$dir/out" ] && grep -q 'no target "zz"' "$dir/err" || { echo "a target that there is not:"; cat "$dir/err"; bad=1; }

named() { # named PATTERN: of tier/name the lines whose name fits
    while read -r name; do
        # shellcheck disable=SC2254
        case ${name#*/} in $1) echo "$name" ;; esac
    done
}

cases() { # cases TARGET VARIANT TIERS COUNT [NAME]: as many cases run, and none fails that is not known to
    "$TESSERA" onnx-test "$archive" --tier "$3" --name "${5:-*}" --target "$1" --variant "$2" --timeout 240 --quiet \
        >"$dir/out" 2>"$dir/err" || [ $? = 1 ] || { cat "$dir/err"; exit 1; }
    echo "$1, $2, $3${5:+, $5}: $(tail -1 "$dir/out")"
    sed -n 's/^FAILED \([^ ]*\) .*/\1/p' "$dir/out" | sort >"$dir/failed"
    sed -n "\\;^\\($(echo "$3" | sed 's/,/\\|/g')\\)/;p" "$dir/known" >"$dir/expected"
    comm -13 "$dir/failed" "$dir/expected" | sed 's/^/passes now, and is listed in conformance.failing: /' >"$dir/mended"
    comm -23 "$dir/failed" "$dir/expected" >"$dir/new"
    [ ! -s "$dir/mended" ] || { cat "$dir/mended"; bad=1; }
    while read -r name; do
        grep -F "FAILED $name " "$dir/out"
        bad=1
    done <"$dir/new"
    ran=$(tail -1 "$dir/out" | sed 's/ passed, / /; s/ failed.*//' | { read -r a b; echo $((a + b)); })
    [ "$ran" = "$4" ] || { echo "$1: $ran cases, expected $4"; bad=1; }
}
