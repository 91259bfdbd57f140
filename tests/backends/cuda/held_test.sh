#!/bin/sh
# held_test.sh - what has not changed does not travel: of a step of training its batch goes to the device and its loss
# comes back; weights and moments stay there until a checkpoint wants them, which holds what it holds on a processor.
# ctest: drivers
. "$SOURCE/tests/cli/expect.sh"
. "$SOURCE/tests/backends/cuda/stand_in.sh"
cd "$dir" || exit 1
"${PYTHON:-python3}" "$SOURCE/tests/train/fixture.py" . || exit 77
train() { # FOLDER TARGET ARGUMENT...
    checked=$((checked + 1))
    folder=$1 target=$2
    shift 2
    SIMCUDA_COPIES=copies.$folder "$TESSERA" train model.json --tokenizer vocab.txt --data train.tsv --labels 2 --length 12 \
        --batch 8 -q "$@" --target "$target" -o "$folder" >said 2>&1 || wrong "$* on $target: $(cat said)"
}
train few cuda --steps 3
train many cuda --steps 9
"${PYTHON:-python3}" - <<'PY' || wrong "a step copies what has not changed, or something that is not pinned"
import json
few, many = (json.load(open(f"copies.{n}")) for n in ("few", "many"))
print(few, many)
# To the device go what the batch is and which step it is; back come loss, norm and rate, and marks of kernels
raise SystemExit(many != {"to_device": few["to_device"] + 6 * 4, "to_host": few["to_host"] + 6 * 4, "pageable": 0})
PY
train there cuda --steps 5 --save-every 2 --keep 9
train here c --steps 5 --save-every 2 --keep 9
"${PYTHON:-python3}" "$SOURCE/tests/train/alike.py" here there 1e-4 || wrong "another run than on a processor"
finish
