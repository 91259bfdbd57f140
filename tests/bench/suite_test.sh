#!/bin/sh
# suite_test.sh - a list of races: its file, going on from it, its page and table, two of them against each other, what is
# refused.  ctest: O1
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
printf '#!/bin/sh\n[ "$1" = -c ]\n' >bare && chmod +x bare # an interpreter that has no runtime installed
quick="--quick --only gru --threads 1 --peer-python $dir/bare"
# shellcheck disable=SC2086
{
    expect 0 'gru    1        ' suite $quick -o s.json --report s.html
    python3 - <<'PY' || wrong "s.json"
import json
d = json.load(open("s.json"))
(race,) = d["races"]
assert (race["name"], race["threads"], race["ways"]) == ("gru", 1, []), race["name"]
r = race["results"]
(c,) = r["candidates"]
assert c["status"] == "VALID" and c["stats"]["median_ns"] > 0 and "kernels" not in c and "plan" not in c
assert r["model"]["name"] == r["config"]["model"] == "gru" and r["model"]["hash"], r["model"]
assert [(p["name"], p["status"]) for p in r["peers"]] == [("onnxruntime", "ABSENT"), ("openvino", "ABSENT")], r["peers"]
page = open("s.html").read()
assert "<td>gru</td><td>1</td>" in page and "http" not in page.replace("http-equiv", "")
def variant(name, change):
    e = json.loads(json.dumps(d))
    change(e["races"][0], e)
    json.dump(e, open(name, "w"))
def times(race, factor):  # of a quiet machine
    race["results"]["machine_state"]["state"] = "quiet"
    for s in sum(race["results"]["candidates"][0]["samples"], []):
        s["ns"], s["flags"] = s["ns"] * factor, []
        s.pop("own_ns", None)
def known(race, e):
    race["results"]["candidates"][0]["stats"]["median_ns"] = 123e9
variant("known.json", known)
variant("quiet.json", lambda race, e: times(race, 1))
variant("slow.json", lambda race, e: times(race, 2))
variant("other.json", lambda race, e: e["asked"].update(quick=False))
variant("failed.json", lambda race, e: (race.pop("results"), race.update(error="no <memory>")))
def plain(race, e):
    known(race, e)
    race["results"]["environment"]["isa"] = "plain"
variant("plain.json", plain)
variant("none.json", lambda race, e: e.update(races=[]))
PY
    # what was measured is not measured again; what failed is
    expect 0 '123 s' suite $quick --resume known.json
    expect 0 'gru' suite $quick --resume failed.json -o again.json
    grep -q 'no <memory>' again.json && wrong "a race that failed is not run again"
    expect 2 'measured with other options' suite $quick --resume other.json
    expect 3 '"format" is "", expected suite/1' suite $quick --resume "$SOURCE/docs/formats/suite.json"
    expect 2 'there are bert-base, minilm, ' suite --only nothing
    expect 0 '| gru | 1 | 123 s' report known.json --markdown
    expect 0 '| gru | 1 | plain | 123 s' report known.json plain.json --markdown
    [ "$(grep -c '| 123 s' out)" = 2 ] || wrong "not both suites" "$(cat out)"
    expect 2 'of several files each is a suite' report known.json "$SOURCE/docs/formats/suite.json" --markdown
    expect 0 'no \<memory>' report failed.json --markdown
    expect 0 'wrote page.html' report s.json -o page.html
    cmp -s s.html page.html || wrong "report makes another page of the same suite"
    expect 3 'the suite has no race yet' report none.json --markdown
    expect 0 'geometric mean of 1: 0.500x' compare quiet.json slow.json
    expect 0 'guess (gru, 1 thread, slow.json) vs guess (gru, 1 thread, quiet.json): SLOWER' compare quiet.json slow.json
    "$TESSERA" compare quiet.json slow.json --fail-on slower >/dev/null 2>&1
    [ $? = 1 ] || wrong "compare --fail-on slower of suites: not exit code 1"
    "$TESSERA" compare slow.json quiet.json --fail-on slower >/dev/null 2>&1 || wrong "compare --fail-on slower fails where it is faster"
    expect 2 'no race in common' compare s.json none.json
    expect 3 'expected results/1' compare s.json "$SOURCE/docs/formats/suite.json"
    expect 2 "--peer-python /nonexistent does not run" suite --quick --only gru --peer-python /nonexistent
}
finish
