#!/bin/sh
# --bits reproducible: whole models have the same bits by every instruction set that this processor has, on one thread and
# several; the setting does what the option does, and explain says which.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
for n in 10 18 27 45; do # sums of numbers that are no power of two, nor fill vectors of every size
    echo '{"format": "graph/1", "name": "sum", "opset": {"": 17}, "nodes": [{"op": "ReduceSum", "in": ["x"], "out": ["y"]}],
        "inputs": [{"name": "x", "dtype": "f32", "shape": [99, '$n']}], "outputs": [{"name": "y"}]}' >sum$n.json
done
for model in bert-tiny gpt2-tiny resnet-tiny vae-tiny sum10.json sum18.json sum27.json sum45.json; do
    for isa in plain avx2 avx512 neon; do
        "$TESSERA" run "$model" --isa "$isa" --threads 2 --bits reproducible --seed 1 -o "$model.$isa" -q >out 2>err ||
            { grep -q 'this processor lacks' err || wrong "$model $isa" "$(cat err)"; continue; }
        checked=$((checked + 1))
        diff -r "$model.plain" "$model.$isa" >diff || wrong "$model: other bits by $isa" "$(cat diff)"
    done
    "$TESSERA" run "$model" --threads 1 --bits reproducible --seed 1 -o "$model.one" -q >out 2>err || wrong "$model" "$(cat err)"
    checked=$((checked + 1))
    diff -r "$model.plain" "$model.one" >diff || wrong "$model: other bits on one thread" "$(cat diff)"
done
[ "$checked" -ge 8 ] || wrong 'nothing compared'
for target in opencl cuda; do
    expect 0 'bits: the same' explain bert-tiny --target $target --machine gpu:h100 --bits reproducible
done
expect 0 'bits: the same by every instruction set and number of threads' explain bert-tiny --bits reproducible
expect 0 'chosen by a rule' explain bert-tiny --bits reproducible -s naive
expect 0 '"reproducible":	false' explain bert-tiny --json
# On this machine products of two layers are worth Strassen's.
expect 0 'bits: other machines or schemas may have others: Strassen or Winograd (' \
    explain bert-base --target null --machine 'l3:1(32MB) core:8 isa:avx2' --dim batch=8
expect 0 'bits: the same' explain bert-base --target c --bits reproducible --dim batch=8
echo 'bits = "reproducible"' >tessera.toml
expect 0 'bits: the same' explain bert-tiny
expect 0 'reproducible' config
finish
