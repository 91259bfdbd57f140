#!/bin/sh
# A disk that fills up at every write, damage to every file of a run, files that shrink, formats of the future, folders that
# cannot be written: each ends with its code and a message that names place and remedy, and the run goes on to the same bits.
# ctest: Og
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
"${PYTHON:-python3}" "$SOURCE/tests/train/fixture.py" . || exit 77
set -- model.json --tokenizer vocab.txt --data train.tsv --eval dev.tsv --labels 2 --length 12 --batch 8 --lr 0.1 --steps 12 \
    --save-every 4 --eval-every 4 -q
last=checkpoints/step-00000012
"$TESSERA" train "$@" -o whole || wrong "an undisturbed run fails"
same() { # RUN
    for f in weights optimizer; do cmp -s "whole/$last/$f.safetensors" "$1/$last/$f.safetensors" || wrong "$1: other $f than undisturbed"; done
    checked=$((checked + 1))
}
names() { # RUN.err PLACE REMEDY
    grep -qE -- "$2" "$1" || wrong "$1: nowhere $2" "$(cat "$1")"
    grep -q '^  hint: ' "$1" || wrong "$1: no hint" "$(cat "$1")"
    checked=$((checked + 1))
}

# 1. files may not grow beyond so many blocks: every write fails once
for blocks in 0 1 2 3 4 6 8 12 24 100; do
    rm -rf small
    { (ulimit -f $blocks && exec "$TESSERA" train "$@" -o small) 2>&1; echo $? >code; } | cat >small.err
    code=$(cat code)
    [ $code = 8 ] || [ $code = 0 ] || wrong "no file above $blocks blocks: exit code $code" "$(cat small.err)"
    [ $code = 0 ] || names small.err "cannot (write|make).*(small|/tessera-)"
    if [ -e small/run.json ]; then "$TESSERA" train --resume small -q; else rm -rf small && "$TESSERA" train "$@" -o small; fi ||
        wrong "no file above $blocks blocks: the run does not go on"
    same small
done

# what is made of a run is there whole or not at all
for made in 'export whole -o made/tuned.onnx' 'emit whole --train -o made/code'; do
    rm -rf made && mkdir made
    # shellcheck disable=SC2086
    { (ulimit -f 1 && exec "$TESSERA" $made) 2>&1; echo $? >code; } | cat >made.err
    [ "$(cat code)" = 8 ] || wrong "$made, no file above a block: exit code $(cat code)" "$(cat made.err)"
    names made.err "cannot write.* 'made/.*: File too large"
    [ -z "$(ls -A made)" ] || wrong "$made, no file above a block: it leaves $(ls -A made)"
done

# 2. a disk of its own, with less and less room, where the system lets us have one
disk='mkdir -p disk && mount -t tmpfs -o size=$SIZE none disk && "$TESSERA" train "$@" -o disk/run 2>disk.err; code=$?
mount -o remount,size=8m disk; ls disk/run/checkpoints 2>/dev/null | grep -v "^step-" && echo "a piece is left" >&2
if [ -e disk/run/run.json ]; then "$TESSERA" train --resume disk/run -q; else "$TESSERA" train "$@" -o disk/run; fi || exit 99
rm -rf filled && cp -r disk/run filled; exit $code'
small="'disk/run' is on a disk with room for [0-9.]+ (KiB|B); the run needs it for 3 checkpoints of [0-9.]+ KiB" early=0
if unshare -rm true 2>/dev/null; then
    for size in 4k 8k 12k 16k 20k 28k 36k 48k 64k 128k 8m; do
        SIZE=$size TESSERA=$TESSERA unshare -rm sh -c "$disk" sh "$@"
        code=$?
        [ $code = 8 ] || { [ $code = 0 ] && [ $size = 8m ]; } || wrong "a disk of $size: exit code $code" "$(cat disk.err)"
        [ $code = 0 ] || names disk.err "cannot (write|write to the metrics of|make)[^:]* 'disk/run[^:]*: No space left on device|$small"
        same filled
        if grep -qE "$small" disk.err; then early=$((early + 1)); fi
    done
    [ $early -gt 0 ] || wrong "no disk is found to be too small before the first step"
    mkdir -p fixed
    unshare -rm sh -c 'mount -t tmpfs -o ro none fixed && exec "$@"' sh "$TESSERA" train "$@" -o fixed/run 2>fixed.err
    [ $? = 8 ] || wrong "a folder that cannot be written: another code" "$(cat fixed.err)"
    names fixed.err "cannot write into 'fixed': Read-only file system"
    rm -rf fixed && "$TESSERA" train "$@" --steps 4 --total-steps 12 -o fixed
    unshare -rm sh -c 'mount --bind fixed fixed && mount -o remount,bind,ro fixed && exec "$@"' sh "$TESSERA" train --resume fixed 2>fixed.err
    [ $? = 8 ] || wrong "a run that cannot be written: another code" "$(cat fixed.err)"
    names fixed.err "'fixed/lock': Read-only file system"
else
    echo "no namespaces here: disks that fill up and folders that cannot be written are left out"
fi
: >plain
expect 8 "cannot make the folder 'plain/run': plain is a file" train "$@" -o plain/run
expect 8 '/dev/full' report whole -o /dev/full

# 3. every file of the newest checkpoint, cut and with one bit turned over: it is named, and the one before is used
turn() { "${PYTHON:-python3}" -c "
import sys
path, at = sys.argv[1], float(sys.argv[2])
data = bytearray(open(path, 'rb').read())
data[min(int(at * len(data)), len(data) - 1)] ^= 1 << int(sys.argv[3])
open(path, 'wb').write(data)" "$@"; }
for file in weights.safetensors optimizer.safetensors state.json; do
    for how in 'cut 0' 'cut 1' 'cut 60' 'turn 0 0' 'turn 0.002 3' 'turn 0.4 7' 'turn 1 5' gone; do
        rm -rf hurt && cp -r whole hurt
        case $how in
        cut*) truncate -s "${how#cut }" hurt/$last/$file ;;
        turn*) turn hurt/$last/$file ${how#turn } ;;
        gone) rm hurt/$last/$file ;;
        esac
        "$TESSERA" train --resume hurt 2>hurt.err || wrong "$file, $how: the run does not go on" "$(cat hurt.err)"
        grep -q "^warning: .*hurt/$last/$file.*going on from hurt/checkpoints/step-00000008" hurt.err ||
            wrong "$file, $how: nothing is said" "$(cat hurt.err)"
        same hurt
    done
done
rm -rf hurt && cp -r whole hurt
for step in hurt/checkpoints/step-*; do truncate -s 100 "$step/weights.safetensors"; done
expect 3 "weights.safetensors' is damaged" train --resume hurt
expect 3 "weights.safetensors' is damaged" eval hurt --data dev.tsv

# the files beside the checkpoints
for how in 'cut 0' 'cut 1' 'cut 100' 'cut 700' 'turn 0.5 2' gone; do
    rm -rf hurt && cp -r whole hurt && rm -r hurt/$last
    case $how in
    cut*) truncate -s "${how#cut }" hurt/run.json ;;
    turn*) turn hurt/run.json ${how#turn } ;;
    gone) rm hurt/run.json ;;
    esac
    for verb in 'predict hurt --text x' 'eval hurt --data dev.tsv' 'train --resume hurt'; do
        # shellcheck disable=SC2086
        "$TESSERA" $verb >/dev/null 2>hurt.err || wrong "run.json, $how: $verb fails" "$(cat hurt.err)"
        grep -q "^warning: 'hurt/run.json' is .*; its copy 'run.copy.json' is used" hurt.err || wrong "run.json, $how: nothing is said"
    done
    same hurt
    cmp hurt/run.json hurt/run.copy.json || wrong "run.json, $how: it is not mended"
done
rm -rf hurt && cp -r whole hurt && truncate -s 700 hurt/run.json hurt/run.copy.json
expect 3 "'hurt/run.json' is damaged" train --resume hurt
expect 3 "'hurt/run.json' is damaged" predict hurt --text x
rm -rf hurt && cp -r whole hurt && sed -i 's,training/1,training/2,' hurt/run.json
expect 4 'training/2' train --resume hurt
rm -rf hurt && cp -r whole hurt && rm -r hurt/$last && printf '{"step":8,"loss":0.' >>hurt/metrics.jsonl
printf X >hurt/step.json
printf X >hurt/misjudged.json
"$TESSERA" train --resume hurt -q || wrong "torn metrics end a run"
same hurt
"${PYTHON:-python3}" -c 'import json; assert [r["step"] for r in map(json.loads, open("hurt/metrics.jsonl")) if "loss" in r] == list(range(12))' ||
    wrong "torn metrics stay, or leave a hole"

# a damaged line of the metrics is told of and set aside, those behind it stay
rm -rf hurt && cp -r whole hurt && rm -r hurt/$last && sed -i '3s/"step"/"stop"/' hurt/metrics.jsonl
expect 0 "1 lines of 'hurt/metrics.jsonl' are damaged" train --resume hurt
same hurt
"${PYTHON:-python3}" -c '
import json
assert [r["step"] for r in map(json.loads, open("hurt/metrics.jsonl")) if "loss" in r] == [i for i in range(12) if i != 2]
assert "\"stop\":2" in open("hurt/metrics.rolled-back.jsonl").readline()' || wrong "behind a damaged line metrics are lost"

# 4. files that shrink while they are read: one that says to be longer than it is, and one that is cut while it is mapped
shrinks=/sys/kernel/mm/transparent_hugepage/enabled
if [ "$(stat -c %s $shrinks 2>/dev/null)" = 4096 ]; then
    expect 8 "'$shrinks' shrank from 4096 to" train model.json --tokenizer vocab.txt --data $shrinks -o fresh
    expect 8 'train on a file that nothing else writes' train model.json --tokenizer vocab.txt --data train.tsv --order $shrinks -o fresh
fi
"${PYTHON:-python3}" - <<'PY' || wrong "a file that is cut while it is mapped is not named" "$(cat cut.err)"
import json, os, subprocess, time
n = 1 << 27
header = json.dumps({"w": {"dtype": "F32", "shape": [n // 4], "data_offsets": [0, n]}}).encode()
codes = []
for wait in (0.05, 0.1, 0.02, 0.2, 0.15, 0.3, 0.4):
    with open("large.safetensors", "wb") as f:
        f.write(len(header).to_bytes(8, "little") + header)
        f.truncate(8 + len(header) + n)
    json.dump({"format": "graph/1", "name": "large", "opset": {"": 17}, "weights": {"file": "large.safetensors"},
               "inputs": [{"name": "x", "dtype": "f32", "shape": [n // 4]}], "outputs": [{"name": "y"}],
               "nodes": [{"op": "Mul", "in": ["x", "w"], "out": ["z"]}, {"op": "ReduceSum", "in": ["z"], "out": ["y"], "attr": {"keepdims": 0}}]},
              open("large.json", "w"))
    p = subprocess.Popen([os.environ["TESSERA"], "run", "large.json", "--seed", "1"], stdout=subprocess.DEVNULL, stderr=open("cut.err", "w"))
    time.sleep(wait)
    os.truncate("large.safetensors", 4096)
    codes.append(p.wait())
    said = open("cut.err").read()
    if "large.safetensors' was cut short while it was read" in said:
        assert codes[-1] == 8, codes
        break
    assert codes[-1] in (0, 3, 8), (codes, said)
os.remove("large.safetensors")
PY
checked=$((checked + 1))
finish
