#!/bin/sh
# A run goes on with the target and the instruction set that it was made with, to the bits of one that was left alone; what
# the command names instead is noted, and is the run's from then on. Runs of older versions have neither.
# ctest: Og
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
"${PYTHON:-python3}" "$SOURCE/tests/train/fixture.py" . || exit 77
recorded() { # RUN TARGET ISA
    checked=$((checked + 1))
    "${PYTHON:-python3}" -c 'import json, sys
r = json.load(open(sys.argv[1] + "/run.json"))
assert [r["target"], r["isa"]] == sys.argv[2:], (r["target"], r["isa"])' "$1" "$2" "$3" || wrong "$1: not $2, \"$3\""
}
silent() { grep -q -e '--target' err && wrong "a target is told of that nobody named" "$(cat err)"; }
begins="model.json --tokenizer vocab.txt --data train.tsv --labels 2 --length 12 --batch 8 --lr 0.1 --total-steps 4"
weights=checkpoints/step-00000004/weights.safetensors
# shellcheck disable=SC2086
begin() { # STEPS RUN ARGUMENT...
    steps=$1 run=$2
    shift 2
    rm -rf "$run"
    expect 0 "step     $steps/$steps" train $begins --steps "$steps" -o "$run" "$@"
}
same() { # ARGUMENT...: that a run goes on by
    begin 2 parts --isa plain
    expect 0 'goes on with --target c --isa plain, as the run was made' train "$@" --steps 4
    cmp "whole/$weights" "parts/$weights" || wrong "train $*: going on ends with other bits"
    recorded parts c plain
}

# an instruction set, by either form of the command
begin 4 whole --isa plain
grep 'step     1/4' err | grep -q 'left' && wrong "the time that is left is told of a first step" "$(cat err)"
grep -q 'step     4/4 .* left 0 s$' err || wrong "not told: no time is left" "$(cat err)"
same --resume parts
# shellcheck disable=SC2086
same $begins --resume -o parts
expect 0 'target c  plain' explain parts

# a target; another one comes without the instruction set of the first
begin 2 there --target interp
recorded there interp ''
cp -r there older
expect 0 'goes on with --target interp, as the run was made' train --resume there --steps 3
recorded there interp ''
cp there/run.json before.json
expect 0 'the run was made with --target interp, and goes on with --target c' train --resume there --steps 4 --target c --dry-run
cmp before.json there/run.json || wrong "a dry run changes the run"
expect 0 'the run was made with --target interp, and goes on with --target c' train --resume there --steps 4 --target c
recorded there c ''
expect 0 'the run was made with --target c --isa plain, and goes on with --target interp' train --resume parts --target interp --dry-run
expect 0 'through' train --resume there
silent

# a run of a version that kept neither
"${PYTHON:-python3}" - <<'PY'
import hashlib, json
run = json.load(open("older/run.json"))
del run["sha256"], run["target"], run["isa"]
text = json.dumps(run)[:-1] + ',"sha256":"'
open("older/run.json", "w").write(text + hashlib.sha256(text.encode()).hexdigest() + '"}\n')
PY
expect 0 'step     3/3' train --resume older --steps 3
silent
recorded older c ''
finish
