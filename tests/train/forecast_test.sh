#!/bin/sh
# explain --ranks: times of messages are those of the rounds and buckets that ranks send, hidden behind kernels where these take
# longer; memory is shared out; what cannot be foretold is refused.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
"${PYTHON:-python3}" "$SOURCE/tests/train/fixture.py" . || exit 77
set -- --tokenizer vocab.txt --labels 2 --length 12 --batch 16 --threads 1 --data train.tsv --steps 3 -q
"$TESSERA" train model.json "$@" --shards 8 -o run || wrong "shards do not train"
"$TESSERA" train model.json "$@" -o whole || wrong "a whole batch does not train"
machine="l3:1(32MB) l2:2(2MB) core:2 isa:avx2 rates:avx2(clock=2700,fma=200,latency=4,l1=6800,l2=3300,l3=1000,memory=470"
machine="$machine,near=1200,far=820,seen=25,start=100)" # times are those of its rates, whatever other work there is here
ask() { "$TESSERA" explain run --threads 1 --json --machine "$machine" "$@" || wrong "explain $*"; }
ask --ranks 64 --net 'latency:1s bandwidth:1000000GB/s' >late.json
ask --ranks 8 --net 'bandwidth:1MB/s latency:1ns' >slow.json
ask --ranks 8 --net 'latency:1ns bandwidth:1000000GB/s' >fast.json
ask --ranks 8 --net 'latency:1ns bandwidth:1000000GB/s' --cores 2 >crowd.json
"${PYTHON:-python3}" - <<'PY' || wrong "messages, memory or cores are not what they should be"
import json, struct
late, slow, fast, crowd = (json.load(open(n + ".json")) for n in ("late", "slow", "fast", "crowd"))
row = lambda of, n: next(r for r in of["rows"] if r["ranks"] == n)
assert [r["ranks"] for r in late["rows"]] == [1, 2, 4, 8] and late["limit"] and not slow["limit"], late
with open("run/checkpoints/step-00000003/weights.safetensors", "rb") as f:
    head = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
shapes = [v["shape"] for k, v in head.items() if k != "__metadata__"]
groups = len({len(s) >= 2 for s in shapes})  # with and without decay, of the one bucket that so few weights are
for n, rounds in (2, 1), (4, 2), (8, 3):
    r = row(late, n)  # sums and weights of each group, so many rounds
    assert abs(r["exchange_ns"] / 1e9 - 2 * groups * rounds) < 1e-3, (r, groups)
    assert r["share"] > 0.99 and abs(r["step_ns"] / 1e9 - (2 * groups + 2) * rounds) < 1e-2, r  # losses and norms, too
    kept = row(slow, 1)["optimizer_bytes"] / 2  # two moments of all slices
    took = 2 * (1 - 1 / n) * kept / 1e6
    assert abs(row(slow, n)["exchange_ns"] / 1e9 / took - 1) < 0.02, (n, row(slow, n), took)
    assert row(slow, n)["optimizer_bytes"] * n == 2 * kept and row(slow, n)["step_bytes"] < row(slow, 1)["step_bytes"]
assert late["pays"] == late["fastest"] == 1 and fast["fastest"] == fast["pays"] == 8, (late, fast)
assert 0.9 < row(fast, 8)["efficiency"] < 1.3, row(fast, 8)
for n, times in (1, 1), (2, 1), (4, 2), (8, 4):  # processes of one thread on two cores
    copied = 0 if n == 1 else 2 * 2 * 2 * (1 - 1 / n) * kept / (4.7 * 2.7)  # sums and weights, in and out, read and written
    assert copied or n == 1
    assert abs((row(crowd, n)["step_ns"] - copied * times) / row(fast, n)["step_ns"] / times - 1) < 0.02, (n, copied, crowd, fast)
    assert row(crowd, n)["by_core"] == times and row(fast, n)["by_core"] == 1 and (crowd["cores"], fast["cores"]) == (2, 0)
PY
"$TESSERA" explain run --ranks 4 --net latency:0us,bandwidth:12GB/s --threads 1 >said || wrong "no latency is refused"
"$TESSERA" explain run --ranks 4 --net 'latency:2us bandwidth:12GB/s' --threads 1 >said || wrong "no table"
grep -q '^ *4 .*KiB' said || wrong "the table has no row of four ranks" "$(cat said)"
grep -q 'share' said && wrong "cores are shared that are not" "$(cat said)"
"$TESSERA" explain run --ranks 4 --net latency:0us,bandwidth:12GB/s --threads 1 --cores 2 >said || wrong "no shared cores"
grep -q '^all share 2 cores' said || wrong "that ranks share cores is not said" "$(cat said)"
expect 2 '"latency:2us bandwidth:12GB/s" expected' explain run --ranks 4 --net 'latency:2 bandwidth:12GB/s'
expect 2 '"latency:2us bandwidth:12GB/s" expected' explain run --ranks 4 --net 'latency:2us bandwidth:-1GB/s'
expect 2 '--net is missing' explain run --ranks 4
expect 2 '"latency:2us bandwidth:12GB/s" expected' explain run --ranks 4 --net 'latency:2us bandwidth:12GB/s jitter:1us'
expect 2 '"latency:2us bandwidth:12GB/s" expected' explain run --ranks 4 --net 'latency:2us latency:3us bandwidth:12GB/s'
expect 2 '"latency:2us bandwidth:12GB/s" expected' explain run --ranks 4 --net 'bandwidth:12GB/s'
expect 2 '--ranks is about steps of training' explain gpt2-tiny --ranks 4 --net 'latency:2us bandwidth:12GB/s'
expect 2 'has one shard' explain whole --ranks 4 --net 'latency:2us bandwidth:12GB/s'
expect 2 '--cores is of --ranks' explain run --cores 4
expect 2 '--why is about one plan' explain run --why --ranks 4 --net 'latency:2us bandwidth:12GB/s'
expect 4 'predicts no times of kernels' explain run --ranks 4 --net 'latency:2us bandwidth:12GB/s' --target interp
finish
