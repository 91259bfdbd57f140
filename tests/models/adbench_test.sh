#!/bin/sh
# tessera adbench: values and derivatives of small problems against formulas written once more (adbench.py), in
# ADBench's forms of files; ADBench's own values where its data are there; problems that are made; what is refused.
# ctest: timeout=600
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
python=${PYTHON:-python3}
"$python" "$SOURCE/tests/models/adbench.py"
holds() { "$python" -c "import json; d = json.load(open('out.json')); assert $1, d"; }
for pair in gmm:gmm ba:ba ba:straight lstm:lstm hand:hand hand:hand-still hand-us:hand-us; do
    name=${pair#*:}
    $TESSERA adbench ${pair%:*} $name.txt --reference ${name}_J.txt --min-time 1ms --threads 1 --json -o out >out.json
    holds 'd["difference"] < 1e-6 and d["reference"] < 1e-12'
    "$python" - $name <<'END'
import sys
name = sys.argv[1]
a, b = ([float(v) for v in open(f).read().split()] for f in (name + "_F.txt", f"out/{name}_F_Tessera.txt"))
assert len(a) == len(b) and all(abs(x - y) <= 1e-12 * max(1, abs(x)) for x, y in zip(a, b)), (a, b)
assert len(open(f"out/{name}_times_Tessera.txt").read().split()) == 2
END
done
# in f32 the same models are off by roundings of that, from f64 files and from differences in f64
for pair in gmm:gmm ba:ba ba:straight lstm:lstm hand:hand hand:hand-still hand-us:hand-us; do
    name=${pair#*:}
    $TESSERA adbench ${pair%:*} $name.txt --reference ${name}_J.txt --min-time 1ms --threads 1 --precision f32 --json >out.json
    holds 'd["precision"] == "f32" and 1e-12 < d["reference"] < 1e-4 and 1e-12 < d["difference"] < 1e-4'
done
$TESSERA adbench gmm gmm.txt --precision f64 --min-time 1ms --json >out.json
holds 'd["precision"] == "f64" and d["difference"] < 1e-6'
# a derivative that differs is found, in numbers and in length
sed '$s/.*/7/' gmm_J.txt >wrong.txt
code=0
$TESSERA adbench gmm gmm.txt --reference wrong.txt --min-time 1ms >out.txt || code=$?
[ $code = 1 ] && grep -q 'derivative against reference: [0-9.e-]*$' out.txt || { cat out.txt; exit 1; }
refused() { # CODE MESSAGE ARGUMENTS...
    code=0 want=$1 text=$2
    shift 2
    $TESSERA adbench "$@" --min-time 1ms >out.txt 2>error.txt || code=$?
    [ $code = $want ] && grep -qxF "error: $text" error.txt && [ ! -s out.txt ] ||
        { echo "adbench $*: exit $code, wanted $want and: $text"; cat error.txt; exit 1; }
}
sed '$d' gmm_J.txt >short.txt
refused 3 '--reference short.txt: it has fewer numbers than the derivative' gmm gmm.txt --reference short.txt
cat gmm_J.txt short.txt >long.txt
refused 3 '--reference long.txt: it has more numbers than the derivative' gmm gmm.txt --reference long.txt

# the objectives there are, and none else
$TESSERA adbench >out.txt
$TESSERA adbench --json >list.json
for name in ba gmm hand hand-us lstm; do
    grep -q "^$name " out.txt && grep -q "\"name\":.*\"$name\"" list.json
    $TESSERA adbench $name $([ $name = ba ] && echo --dim n=3 --dim m=20 --dim p=60) --min-time 1ms --json >out.json
    # values of 25,000 rounded to f64, over a step: differences of gmm are no nearer than some 1e-6, by instruction set
    holds 'd["difference"] < 1e-5'
done
refused 2 'adbench does not know "mlp"' mlp gmm.txt
grep -qxF '  hint: known are ba, gmm, hand, hand-us, lstm' error.txt || { cat error.txt; exit 1; }
printf '1 2 two\n' >bad.txt
refused 3 'bad.txt: a number expected at " two"' gmm bad.txt
printf '1 2.5 3\n' >bad.txt
refused 3 'bad.txt: the size k is 2.5, a whole number from 1 to 1e8 expected' gmm bad.txt
printf '1 1 1\n' >bad.txt
refused 3 'bad.txt: the size c is 1, a whole number from 2 to 1e8 expected' lstm bad.txt
refused 2 '--precision "bf16": must be one of f64|f32' gmm gmm.txt --precision bf16
# models of sizes that there are not: refused while they are only tried, too
for call in 'adbench-gmm bits=16' 'adbench-lstm l=99' 'adbench-lstm c=1'; do
    code=0
    $TESSERA run ${call% *} --dim ${call#* } >out.txt 2>error.txt || code=$?
    [ $code = 2 ] && grep -q '^error: .*\(reals have 32 or 64\|2 or more characters expected\)' error.txt ||
        { echo "run $call: exit $code"; cat error.txt; exit 1; }
done
refused 2 '--dim "q=3": hand has no size "q"' hand --dim q=3
refused 2 '--dim "n=0": the size of n must be a whole number from 1 to 1e8' hand --dim n=0
refused 2 'adbench gmm: --dim is of problems that are made, gmm.txt has sizes of its own' gmm gmm.txt --dim n=3

# plain C, compiled as a library, says the same of all of it
for pair in gmm:gmm ba:ba ba:straight lstm:lstm hand:hand hand:hand-still hand-us:hand-us; do
    kind=${pair%:*} name=${pair#*:}
    [ -e $kind.so ] || ${CC:-cc} -std=c11 -Wall -Wextra -Werror -O1 -fPIC -shared -I"$SOURCE" \
        "$SOURCE/tests/plainc/adbench/$kind.c" -o $kind.so -lm
    $TESSERA adbench $kind $name.txt --against ./$kind.so --min-time 1ms --threads 1 --json >out.json
    holds 'd["against"]["difference"] < 1e-12 and d["against"]["derivative_ratio"] > 0'
done
code=0
$TESSERA adbench gmm gmm.txt --against ./other.so --min-time 1ms 2>error.txt || code=$?
[ $code = 8 ] && grep -q '^error: --against ./other.so: ' error.txt || { cat error.txt; exit 1; }
echo 'int nothing;' >none.c
${CC:-cc} -fPIC -shared none.c -o none.so
refused 3 '--against ./none.so: it has no function tessera_values' gmm gmm.txt --against ./none.so

# ADBench's own command line: the same files, whatever the module is called; runs are bounded as it says
rm -rf out
$TESSERA adbench gmm gmm.txt --min-time 1ms -o out --threads 1 -q >/dev/null
$TESSERA adbench runner GMM ./libtool.so gmm.txt run 0.001 3 2 0.5 --threads 1 -q >/dev/null
for what in F J; do cmp out/gmm_${what}_Tessera.txt run/gmm_${what}_Tessera.txt; done
[ "$(wc -w <run/gmm_times_Tessera.txt)" = 2 ]
$TESSERA adbench runner HAND-COMPLICATED - hand-us.txt run 0.001 1 1 0.5 -q >/dev/null && [ -s run/hand-us_J_Tessera.txt ]
runner() { # CODE MESSAGE ARGUMENTS...
    code=0 want=$1 text=$2
    shift 2
    $TESSERA adbench runner "$@" >out.txt 2>error.txt || code=$?
    [ $code = $want ] && grep -qF "error: $text" error.txt || { echo "adbench runner $*: exit $code"; cat error.txt; exit 1; }
}
runner 2 'adbench runner: NF "0": must be a whole number from 1 to 1000000' GMM - gmm.txt run 0.5 0 10 60
runner 2 'adbench runner: LIMIT "-1"' GMM - gmm.txt run 0.5 10 10 -- -1
runner 2 'adbench runner: TIME "x"' GMM - gmm.txt run x 10 10 60
runner 2 'adbench runner: LIMIT is missing' GMM - gmm.txt run 0.5 10 10
runner 2 'adbench does not know "mlp"' MLP - gmm.txt run 0.5 10 10 60
runner 2 'adbench runner: --min-time is said by the arguments' GMM - gmm.txt run 0.5 10 10 60 --min-time 1s
# The table beside plain C, and beside tools of an ADBench that is built: here one that says what Tessera says, in a
# tenth of its time
if [ $# = 0 ]; then
    compare() { TESSERA=$TESSERA sh "$SOURCE/tests/plainc/adbench/compare.sh" --min-time 1ms "$@" >table.txt 2>error.txt; }
    mkdir -p built/data/gmm/1k && cp gmm.txt built/data/gmm/1k && : >built/libManual.so
    cat >built/CppRunner <<'END'
#!/bin/sh
"$TESSERA" adbench runner "$1" - "$3" "$4" "$5" "$6" "$7" "$8" -q >/dev/null
for file in "$4"/*_Tessera.txt; do mv "$file" "${file%Tessera.txt}Manual.txt"; done
printf '1e-9\n2e-9\n' >"$(ls "$4"/*_times_Manual.txt)"
END
    chmod +x built/CppRunner
    export TESSERA
    ADBENCH=$dir/built compare || { cat table.txt error.txt; exit 1; }
    [ "$(grep -c '^gmm gmm.txt  *plain C  *[0-9.e-]*[1-9]' table.txt)" = 1 ] && [ "$(grep -c '^hand.* plain C ' table.txt)" = 4 ] &&
        awk '/^gmm gmm.txt  *Manual/ { found = $4 > 0 && $7 < 0.1 && $8 < 0.1 && $9 == 0 } END { exit !found }' table.txt &&
        ! grep -q 'left out' table.txt || { cat table.txt; exit 1; }
    code=0
    ADBENCH=$dir/run compare || code=$?
    [ $code = 2 ] && grep -q 'it is not built' error.txt
    compare -d built/data && grep -q "^ADBench's own tools are left out" table.txt || { cat table.txt error.txt; exit 1; }
fi
# differences of a value near 1e9 have few digits left: what a file confirms does not fail by them
"$python" - <<'END'
import random
random.seed(1)
d, k, n = 2, 2, 60
rows = lambda count, width, scale: "".join(" ".join(repr(scale * random.random()) for _ in range(width)) + "\n" for _ in range(count))
open("far.txt", "w").write(f"{d} {k} {n}\n" + rows(k, 1, 1) + rows(k, d, 1) + rows(k, d * (d + 1) // 2, 1) + rows(n, d, 3e3) + "1.0 0\n")
END
code=0
$TESSERA adbench gmm far.txt --min-time 1ms -o out --json >out.json || code=$?
[ $code = 1 ] || { cat out.json; exit 1; }
holds 'd["difference"] > 1e-4'
$TESSERA adbench gmm far.txt --reference out/far_J_Tessera.txt --min-time 1ms --json >out.json
holds 'd["difference"] > 1e-4 and d["reference"] < 1e-8'

data=${SHARED:-/nowhere}/data/adbench/adbench-data.tar.xz
[ -f "$data" ] || { echo "values of ADBench left out: no SHARED/data/adbench"; exit 0; }
tar xf "$data"
objective() { # KIND FILE WANT: to 1e-12
    $TESSERA adbench "$1" "$2" --min-time 1ms --json >out.json
    holds "abs(d['objective'] - $3) <= 1e-12 * abs($3) and d['difference'] < 1e-4"
}
objective gmm data/gmm/1k/gmm_d2_K5.txt -5240.59056254964707
objective gmm data/gmm/1k/gmm_d10_K25.txt -25649.6526211976197
objective lstm data/lstm/lstm_l2_c1024.txt 0.666665179558852183
objective lstm data/lstm/lstm_l4_c1024.txt 0.710676638558428109
objective lstm data/lstm/lstm_l4_c4096.txt 0.687268403981814657
objective ba data/ba/ba1_n49_m7776_p31843.txt 0.101335837914461449
[ "${1:-}" = all ] || exit 0
objective gmm data/gmm/1k/gmm_d64_K25.txt -944188.541866020299
objective lstm data/lstm/lstm_l2_c4096.txt 0.694856334236502282
