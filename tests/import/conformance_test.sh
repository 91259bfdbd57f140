#!/bin/sh
# The ONNX project's own cases: tiers P0, P1 and MODEL and the large networks of LIGHT on both targets. What fails must
# be listed in conformance.failing; what is listed there and passes is said, so that the list can shrink.
# ctest: large timeout=1500
set -eu
archive=${SHARED:-}/data/onnx/backend-cases.tar.xz
[ -r "$archive" ] || { echo "SHARED names no folder with data/onnx/backend-cases.tar.xz"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
known=$SOURCE/tests/import/conformance.failing
bad=0
for run in interp:P0,P1,MODEL,LIGHT:879 c:P0,P1,MODEL,LIGHT:879; do
    target=${run%%:*} want=${run##*:} tiers=${run#*:} tiers=${tiers%:*}
    "$TESSERA" onnx-test "$archive" --tier "$tiers" --target $target --timeout 240 --quiet \
        >"$dir/$target" 2>"$dir/err" || [ $? = 1 ] || { cat "$dir/err"; exit 1; }
    tail -1 "$dir/$target"
    sed -n "s/^FAILED \([^ ]*\) .*/$target \1/p" "$dir/$target" | sort >"$dir/failed"
    grep "^$target " "$known" | sort >"$dir/known" || :
    comm -23 "$dir/failed" "$dir/known" >"$dir/new"
    comm -13 "$dir/failed" "$dir/known" | sed 's/^/passes now: /'
    while read -r _ name; do
        grep -F "FAILED $name " "$dir/$target"
        bad=1
    done <"$dir/new"
    ran=$(tail -1 "$dir/$target" | sed 's/ passed, / /; s/ failed.*//' | { read -r a b; echo $((a + b)); })
    [ "$ran" = "$want" ] || { echo "$target: $ran cases, expected $want"; bad=1; }
done
exit $bad
