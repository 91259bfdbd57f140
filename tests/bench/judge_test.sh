#!/bin/sh
# judge_test.sh - --judge NAME: that target's results are right, not those of plain loops in f64; results say so.
. "$SOURCE/tests/cli/expect.sh"
small='bench products --dim m=4 --dim k=4 --dim n=4 --dim layers=1 --launches 1 --min-time 0.05s'
# shellcheck disable=SC2086
{
    expect 2 'no target "nonsense"' $small --judge nonsense
    expect 0 '"judge":"interp"' $small --judge interp --json
    expect 0 'results are held against target interp, which rounds as the model does, and not against f64' $small --judge interp --json
    "$TESSERA" $small --json >"$dir/plain" 2>/dev/null
}
grep -q '"judge"' "$dir/plain" && wrong 'a judge is named that nobody asked for'
finish
