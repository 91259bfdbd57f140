#!/bin/sh
# A rule "reuse": "none" gives results memory of their own: no two values overlap, whenever they are alive, what is kept
# grows, and results keep their bits. Values of kernels that no such rule fits share memory as before.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "format": "tiling/1", "rules": [ { "name": "apart", "reuse": "none" } ] }' >all.json
cat >some.json <<'END'
{ "format": "tiling/1", "extends": "guess",
  "rules": [ { "name": "shared", "match": { "op": "softmax" }, "reuse": "auto" },
             { "name": "apart", "match": { "op": ["matmul", "conv2d"] }, "reuse": "none" } ] }
END
for model in bert-tiny gpt2-tiny resnet-tiny vae-tiny; do
    for schema in guess all.json some.json; do
        "$TESSERA" explain "$model" -s "$schema" --json -q >"$model-$schema.plan"
        "$TESSERA" run "$model" -s "$schema" --seed 1 -o "$model-$schema" -q >log
        diff -r "$model-guess" "$model-$schema"
    done
    "${PYTHON:-/usr/bin/python3}" - "$model" <<'END'
import json, sys
guess, every, some = (json.load(open(f"{sys.argv[1]}-{s}.plan"))["memory"] for s in ("guess", "all.json", "some.json"))
apart = lambda a, b: a["offset"] + a["bytes"] <= b["offset"] or b["offset"] + b["bytes"] <= a["offset"]
assert "own_bytes" not in guess and any("over" in b for b in guess["buffers"]), guess
assert every["arena_bytes"] == every["own_bytes"] == sum(b["bytes"] for b in every["buffers"]), every
assert every["arena_bytes"] > some["arena_bytes"] >= guess["arena_bytes"], (every, some, guess)
own = [b for b in some["buffers"] if b.get("own")]
assert 0 < len(own) < len(some["buffers"]) and sum(b["bytes"] for b in own) == some["own_bytes"], some
for memory in every, some:
    for i, a in enumerate(memory["buffers"]):
        assert all(apart(a, b) for b in memory["buffers"][:i] if a.get("own") or b.get("own")), a
END
done
text=$("$TESSERA" explain resnet-tiny -s all.json -q)
case $text in *'; 59.8 KiB shared with no other, by a rule)'*) ;; *) echo "$text" | tail -1; exit 1 ;; esac
"$TESSERA" schema lint some.json bert-tiny >lint 2>&1 || true
grep -q 'rule "apart" decides no kernel' lint && { cat lint; exit 1; }
echo '{ "format": "tiling/1", "rules": [ { "match": { "op": "conv3d" }, "reuse": "none" } ] }' >idle.json
"$TESSERA" schema lint idle.json bert-tiny >lint 2>&1 || true
grep -q 'rule "rule 0" decides no kernel: the plan has none of its operations' lint || { cat lint; exit 1; }
