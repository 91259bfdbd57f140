#!/bin/sh
# held_test.sh - what has not changed does not travel to an OpenCL device with memory of its own: of a step of training its
# batch goes there and its loss comes back; weights and moments stay until a checkpoint wants them.
. "$SOURCE/tests/cli/expect.sh"
apart=$BUILD/tests/oclapart/liboclapart.so
[ -e "$apart" ] || { echo "skipped: no loader of OpenCL"; exit 77; }
cd "$dir" || exit 1
"${PYTHON:-python3}" "$SOURCE/tests/train/fixture.py" . || exit 77
"$TESSERA" run products --dim m=1 --dim k=1 --dim n=1 --dim layers=1 --seed 1 --target opencl -q --out try 2>why ||
    { echo "skipped: $(head -n 1 why)"; exit 77; }
for steps in 3 9; do
    checked=$((checked + 1))
    TESSERA_OPENCL="loader=$apart ${TESSERA_OPENCL:-}" OCLAPART_COPIES=copies.$steps "$TESSERA" train model.json --tokenizer vocab.txt \
        --data train.tsv --labels 2 --length 12 --batch 8 -q --steps $steps --target opencl -o run.$steps >said 2>&1 ||
        wrong "no training: $(cat said)"
done
"${PYTHON:-python3}" - <<'PY' || wrong "a step copies what has not changed, or something that is not pinned"
import json
few, many = (json.load(open(f"copies.{n}")) for n in (3, 9))
print(few, many)
# To the device go what the batch is and which step it is; back come loss, norm and rate, and marks of kernels
raise SystemExit(many != {"to_device": few["to_device"] + 6 * 4, "to_host": few["to_host"] + 6 * 4, "pageable": 0})
PY
finish
