#!/bin/sh
# Where the time to a first result goes is told, and what cache warm compiles no run has to.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
"$TESSERA" run bert-tiny --seed 1 --dim seq=8 --cache-dir a --json >cold.json || wrong "a first run fails"
"$TESSERA" run bert-tiny --seed 1 --dim seq=8 --cache-dir a --json >again.json || wrong "a second run fails"
expect 0 'bert-tiny: ' cache warm bert-tiny bert-tiny --dim seq=8 --cache-dir b
"$TESSERA" cache warm bert-tiny --dim seq=8 --cache-dir b --json >warm.json || wrong "warm for a second time fails"
"$TESSERA" run bert-tiny --seed 1 --dim seq=8 --cache-dir b --json >first.json || wrong "a run after it fails"
expect 2 'warm takes it' cache size --dim seq=8
expect 2 'MODEL is missing' cache warm
expect 8 'did you mean bert-base?' run bert-bse --seed 1
expect 8 'did you mean bert-base?' bench bert-bse
expect 7 'the plan needs 420 MiB (2.3 MiB of them for values' run bert-base --seed 1 --mem-limit 100M --as-written
# What computes weights from others is in the program of all else: one link, whatever there is to compute.
printf '#!/bin/sh\ncase $* in *-shared*) echo >>"$0.links" ;; esac\nexec gcc "$@"\n' >cc
chmod +x cc
TESSERA_CC=$PWD/cc "$TESSERA" run minilm --seed 1 --dim seq=64 --cache-dir none --json >derived.json || wrong "minilm fails"
[ "$(wc -l <cc.links)" = 1 ] || wrong "minilm was linked in $(wc -l <cc.links) programs"
later "the phases of a first run" '
import json
cold, again, first, warm = (json.load(open(f + ".json")) for f in ("cold", "again", "first", "warm"))
names = ["plan_s", "calibration_s", "texts_s", "compiler_s", "assembler_s", "linker_s", "load_s", "weights_s"]
assert list(cold["phases"]) == names, cold["phases"]
assert cold["compiled"] > 5 and all(cold["phases"][n] > 0 for n in names), cold
assert cold["phases"]["compiler_s"] > cold["phases"]["plan_s"], cold["phases"]
assert again["compiled"] == 0 == first["compiled"], (again, first)
assert again["phases"]["compiler_s"] == 0 == first["phases"]["linker_s"], (again, first)
assert [w["model"] for w in warm["warmed"]] == ["bert-tiny"] and warm["warmed"][0]["compiled"] == 0, warm
assert warm["entries"] > 5
assert cold["outputs"] == first["outputs"]'
finish
