#!/bin/sh
# A small convolutional network learns real digits from scratch: 98.6 % of images by writers it has not seen. Other machines
# round otherwise: at least 97.5 % here.
. "$SOURCE/tests/cli/expect.sh"
[ -n "${SHARED:-}" ] || { echo "no SHARED: the digits are left out"; exit 77; }
cd "$dir" || exit 1
"${PYTHON:-python3}" "$SOURCE/tests/train/digits.py" "$SHARED/data/digits/digits.tsv" . || exit 77
expect 0 '360 examples' train model.json --data x=train_x.npy --data label=train_y.npy --eval x=test_x.npy \
    --eval label=test_y.npy --head none --batch 64 --epochs 4 --lr 5e-3 --label-smoothing 0.1 -o run
expect 0 '"n":	360' eval run --data x=test_x.npy --data label=test_y.npy --json
"$TESSERA" eval run --data x=test_x.npy --data label=test_y.npy --json >eval.json
"${PYTHON:-python3}" -c 'import json; a = json.load(open("eval.json"))["accuracy"]; print(a); assert a >= 0.975' ||
    wrong "the digits are not learnt"
grep -q '<path class="line"' run/report.html || wrong "the report has no curves"
finish
