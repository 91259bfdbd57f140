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
step = {k: (many[k] - few[k]) / 6 for k in few}
# To the device go what the batch is (tokens, mask, labels) and which step it is; back come loss, norm and rate, and marks of kernels
raise SystemExit(not (many["pageable"] == 0 and step["to_device"] == 4 and step["to_host"] == 4 and step["bytes_to_device"] < 2500
                      and step["bytes_to_host"] < 1000))
PY
train there cuda --steps 5 --save-every 2 --keep 9
train here c --steps 5 --save-every 2 --keep 9
"${PYTHON:-python3}" "$SOURCE/tests/train/alike.py" here there 1e-4 || wrong "another run than on a processor"
finish
