#!/bin/sh
# Every command on these pages works as it stands: their blocks marked sh are run, page by page in an empty folder. ctest: large
set -eu
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
mkdir "$here/bin"
ln -s "$TESSERA" "$here/bin/tessera"
PATH=$here/bin:$PATH
export PATH
for page in tutorial built-in training; do
    awk '/^```sh$/ { on = 1; n++; next } /^```$/ { on = 0 } on { print } END { exit !n }' "$SOURCE/docs/$page.md" >"$here/$page.sh" ||
        { echo "$page.md has no commands"; exit 1; }
    mkdir "$here/$page"
    echo "== $page.md: $(grep -c '^tessera' "$here/$page.sh") commands of ours"
    (cd "$here/$page" && sh -eux ../$page.sh) >"$here/$page.out" 2>&1 || { cat "$here/$page.out"; exit 1; }
done
# What the pages say comes out; of predicted times nearly, as they change with what is known of processors.
cd "$here/tutorial"
for file in out/last_hidden_state.npy results.json report.html mine.json guess.json; do
    [ -s $file ] || { echo "tutorial.md: no $file"; exit 1; }
done
[ -s "$here/built-in/second/logits.npy" ]
[ -s "$here/training/run/report.html" ]
"${PYTHON:-python3}" - "$TESSERA" "$SOURCE/docs/tutorial.md" "$here/tutorial.out" <<'PY'
import json, re, subprocess, sys
page, bad = open(sys.argv[2]).read(), 0
def plain(line):  # times are held against the table below
    return re.sub(r"[0-9.,]+ [µm]s predicted", "predicted", " ".join(line.split()))
printed = {plain(line) for line in open(sys.argv[3])}
shown = [line for line in re.sub(r"(?ms)^```.*?^```$", "", page).split("\n") if line.startswith("    ")]
for line in shown:
    if plain(line) not in printed:
        print(f"tutorial.md: no command prints: {line.strip()}")
        bad += 1
print(f"tutorial: {len(shown)} lines of output")
rows = re.findall(r"^\| (?:\d |the )(\w+) \| ([0-9.,]+) µs \| ([0-9.,]+) µs \|", page, re.M)
files = {"vectors": "vectors.json", "tile": "tile.json", "panels": "panels.json", "mine": "mine.json"}
for step, *told in rows:
    for isa, us in zip(("avx2", "avx512"), told):
        plan = json.loads(subprocess.run([sys.argv[1], "explain", "minilm", "--dim", "seq=64", "-s", files.get(step, step), "--op",
                                          "*query*", "--machine", "core:2 isa:" + isa, "--json", "-q"],
                                         stdout=subprocess.PIPE, check=True).stdout)
        is_so = next(k for k in plan["kernels"] if k["op"] == "matmul")["predicted"]["time_ns"] / 1000
        if not 0.8 < float(us.replace(",", "")) / is_so < 1.25:
            print(f"tutorial.md: step {step} with {isa} takes {us} µs, explain predicts {is_so:.3g}")
            bad += 1
print(f"tutorial: {2 * len(rows)} predicted times, {bad} told wrongly")
sys.exit(bad > 0 or len(rows) < 6 or len(shown) < 12)
PY
