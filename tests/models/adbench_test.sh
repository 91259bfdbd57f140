#!/bin/sh
# tessera adbench: values against the reference where its data are there, and
# derivatives against differences; files like those of ADBench; what is refused.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
# two Gaussians in one dimension, by hand: see below
printf '1 2 2\n0.5\n-0.5\n1\n2\n0.1\n-0.2\n1.5\n0.5\n1.5 2\n' >small.txt
$TESSERA adbench gmm small.txt --min-time 1ms --json -o . >out.json
python3 - <<'END'
import json, math
d = json.load(open("out.json"))
a, mu, q, x, gamma, m = [.5, -.5], [1, 2], [.1, -.2], [1.5, .5], 1.5, 2
lse = lambda v: max(v) + math.log(sum(math.exp(e - max(v)) for e in v))
inner = sum(lse([a[k] + q[k] - .5 * (math.exp(q[k]) * (y - mu[k])) ** 2 for k in range(2)]) for y in x)
n = 1 + m + 1
c = n * (math.log(gamma) - .5 * math.log(2)) - math.lgamma(.5 * n)
prior = sum(.5 * gamma ** 2 * math.exp(2 * v) - m * v for v in q) - 2 * c
want = -2 * .5 * math.log(2 * 3.14159265359) + inner - 2 * lse(a) + prior
assert abs(d["objective"] - want) <= 1e-12 * abs(want), (d, want)
assert d["difference"] < 1e-6, d
assert len(open("small_J_Tessera.txt").read().split()) == 6 and len(open("small_times_Tessera.txt").read().split()) == 2
END
printf '2 3 7\n1.797201 0.590697 -0.635786 90.85955 29.361415 28.777534 211.628116 -0.284531 -14.762924 0.058931 0.069976\n4.173048 5.586898 1.403869\n0.417022\n-525.672849 161.811929\n' >ba.txt
$TESSERA adbench ba ba.txt --min-time 1ms --json >out.json
python3 -c 'import json; d = json.load(open("out.json")); assert d["difference"] < 1e-6, d'
code=0
printf '1 2 two\n' >bad.txt
$TESSERA adbench gmm bad.txt 2>error.txt || code=$?
[ $code = 3 ] && grep -q 'bad.txt: a number expected at " two' error.txt || { cat error.txt; exit 1; }
data=${SHARED:-/nowhere}/data/adbench/adbench-data.tar.xz
[ -f "$data" ] || { echo "values of ADBench left out: no SHARED/data/adbench"; exit 0; }
tar xf "$data"
objective() { # KIND FILE WANT TOLERANCE
    $TESSERA adbench "$1" "$2" --min-time 1ms --json >out.json
    python3 -c 'import json, sys
d, want = json.load(open("out.json")), float(sys.argv[1])
assert abs(d["objective"] - want) <= float(sys.argv[2]) * abs(want), (d, want)
assert d["difference"] < 1e-4, d' "$3" "$4"
}
objective gmm data/gmm/1k/gmm_d2_K5.txt -5240.59056254964707 1e-12
objective gmm data/gmm/1k/gmm_d10_K25.txt -25649.6526211976197 1e-12
objective gmm data/gmm/1k/gmm_d64_K25.txt -944188.541866020299 1e-12
objective ba data/ba/ba1_n49_m7776_p31843.txt 0.101335837914461449 1e-12
