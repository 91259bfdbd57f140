#!/bin/sh
# The schema that says what was guessed gives the same plan again, but for who decided: what is printed of loops, blocks and
# layouts says all of it, and is read as it was meant. Of built-in networks, on a processor and on a card; with `all`, of
# the large ones too that are made as others here are. And the line in which a plan names its machine gives the same plan.
# ctest: large
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# Of adbench-hand and adbench-hand-us a rule for a small product fits another of these extents too, which is a stage of a
# kernel, refuses the loops and is guessed as it was. docs/built-in.md does not tell of the models of tests.
models=$(sed -n 's/^| `\([a-z0-9-]*\)` | .*/\1/p' "$SOURCE/docs/built-in.md" | grep -v ^adbench-hand)
[ "${1:-}" = all ] || models=$(echo "$models" | grep -vx 'bert-large\|resnet-18\|vae-decoder')
for model in $models bert-tiny gpt2-tiny resnet-tiny vae-tiny products product-fresh; do
    for machine in "l3:1(32MB) core:8 isa:avx2" gpu:h100; do
        set -- "$model" --target null --machine "$machine" -q
        "$TESSERA" schema init "$@" -o "$dir/again.json"
        "$TESSERA" explain "$@" --json >"$dir/guessed"
        "$TESSERA" explain "$@" --json -s "$dir/again.json" >"$dir/again"
        echo "$model, $machine" >>"$dir/list"
        cat "$dir/guessed" "$dir/again" >>"$dir/list"
        [ "$model" = bert-tiny ] || continue
        line=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["machine"])' <"$dir/guessed")
        "$TESSERA" explain "$@" --machine "$line" --json | cmp "$dir/guessed" - || { echo "not of $machine: $line"; exit 1; }
    done
done
python3 - "$dir/list" <<'PY'
import json, sys

def differences(place, a, b):
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted((set(a) | set(b)) - {"rule", "schema", "guessed", "declined", "bits"}):
            yield from differences("%s.%s" % (place, key), a.get(key), b.get(key))
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b)):
            yield from differences("%s[%d]" % (place, i), x, y)
    elif a != b:
        yield "%s: %.300s | %.300s" % (place, a, b)

def merges(kernels, i): # a kernel that adds up what the one before it summed in parts is always guessed
    return i > 0 and any("the kernel behind this one adds them up" in note for note in kernels[i - 1]["notes"])

text, read, failed, plans = open(sys.argv[1]).read(), json.JSONDecoder(), 0, 0
while text:
    what, text = text.split("\n", 1)
    pair = []
    for _ in range(2):
        one, end = read.raw_decode(text)
        pair.append(one)
        text = text[end:].lstrip()
    plans += 1
    if any(k["rule"] == "guess" and "@" in k["loops"] and not merges(pair[1]["kernels"], i)
           for i, k in enumerate(pair[1]["kernels"])):
        failed += 1
        print("%s: a kernel is left to the guess" % what)
    for line in list(differences("", *pair))[:3]:
        failed += 1
        print("%s: %s" % (what, line))
print("%d plans made again, %d differences" % (plans, failed))
sys.exit(failed > 0 or plans < 20)
PY
