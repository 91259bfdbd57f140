#!/bin/sh
# Rates of this machine: measured when they are needed first, kept, read, made again where they are damaged, not made where
# they cannot be kept; and plans that follow from a text alone. ctest: serial drivers
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
run="run bert-tiny --seed 1 --dim seq=8 --json"
# shellcheck disable=SC2086
{
"$TESSERA" $run --cache-dir a >first.json || wrong "a first run fails"
"$TESSERA" doctor --cache-dir a --json >a.json 2>/dev/null || wrong "doctor fails"
"$TESSERA" $run --cache-dir a >second.json || wrong "a second run fails"
"$TESSERA" $run --cache-dir none >nowhere.json || wrong "a run without a cache fails"
}
expect 0 'start' doctor --calibrate --cache-dir b
"$TESSERA" doctor --calibrate --cache-dir b --json >one.json || wrong "doctor --calibrate fails"
"$TESSERA" doctor --calibrate --cache-dir b --json >two.json || wrong "doctor --calibrate fails for a second time"
core=$(taskset -cp $$ 2>/dev/null | sed 's/.*: *//; s/[-,].*//') # one core alone: what is seen of loading is the least there
taskset -c "${core:-0}" "$TESSERA" doctor --calibrate --cache-dir c --json >alone.json 2>/dev/null || cp one.json alone.json
grep -q '"targets"' one.json && wrong "doctor --calibrate examines more than the machine"
expect 8 'cannot be kept' doctor --calibrate --cache-dir none
# shellcheck disable=SC2086
"$TESSERA" $run --cache-dir b >ready.json || wrong "a run after doctor fails"
# The record that stands in the cache is the smallest entry. Bytes are not its hash's; and a text with another hash is no record.
kept=$(grep -lr '^rates:' b/v1/??) && echo x >>"$kept" || wrong "no record of rates in the cache"
# shellcheck disable=SC2086
"$TESSERA" $run --cache-dir b >damaged.json || wrong "a run after damage fails"
printf 'rates:plain(clock=1)' >"$kept"
sum=$(printf 'rates:plain(clock=1)' | sha256sum | cut -d' ' -f1)
sed -i "s/^object .*/object 20 bytes sha256 $sum/" "$(dirname "$kept")/MANIFEST"
# shellcheck disable=SC2086
"$TESSERA" $run --cache-dir b >forged.json || wrong "a run after a forged record fails"
grep -Eq '^rates:.*start=[0-9]*(,disturbed)?\)$' "$kept" || wrong "a forged record stays" "$(head -c 200 "$kept")"
# A machine where sums are cheap beside products, and one where they are not
machine="l3:1(32MB) l2:2(2MB) core:2 isa:avx2 rates:avx2(clock=3300,fma=200,latency=4,l1=8200,l2=3900,l3=820,memory=470"
for rates in "near=1500,far=820" "near=390,far=220"; do
    "$TESSERA" explain minilm --dim seq=128 --machine "$machine,$rates,seen=3,start=100)" --json >"plan-${rates%%,*}.json"
    "$TESSERA" explain minilm --dim seq=128 --machine "$machine,$rates,seen=3,start=100)" --json |
        cmp - "plan-${rates%%,*}.json" || wrong "one text gives two plans"
done
later "rates" '
import json
load = lambda name: json.load(open(name + ".json"))
first, second, nowhere, ready, damaged, forged = (load(n)["phases"]["calibration_s"]
    for n in ("first", "second", "nowhere", "ready", "damaged", "forged"))
assert 0 < first < 2, first
assert nowhere == 0 and damaged > 0 and forged > 0, (nowhere, damaged, forged)
kept = load("a")["machine"]
assert kept["measured"] and (second == 0 or kept["disturbed"]) and (ready == 0 or load("two")["machine"]["disturbed"]), (second, ready)
assert load("first")["outputs"] == load("second")["outputs"]
one, two = load("one")["machine"], load("two")["machine"]
assert one["measured"] and two["measured"] and one["rates"]["isa"] == one["isa"], one
rate = one["rates"]
assert rate["fma_per_cycle"] > 0 and rate["l1_bytes_per_cycle"] >= rate["l3_bytes_per_cycle"], rate
assert " rates:%s(clock=" % one["isa"] in one["text"], one["text"]
sums = lambda name: sum(k["op"] == "strassen_blocks" for k in load(name)["kernels"])
assert sums("plan-near=1500") > 10 and sums("plan-near=390") == 0'
finish
