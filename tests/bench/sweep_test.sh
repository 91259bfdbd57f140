#!/bin/sh
# sweep_test.sh - a race at each point of a grid: its file, its page, going on from it, what is refused.  ctest: O1
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
quick="--min-time 20ms --launches 1 -s guess -s naive"
# shellcheck disable=SC2086
{
    expect 0 'seq=8 threads=1' bench bert-tiny --sweep seq=4,8 --sweep threads=1 $quick -o s.json --report s.html
    python3 - <<'PY' || wrong "s.json"
import json
d = json.load(open("s.json"))
assert [p["at"] for p in d["points"]] == [{"seq": "4", "threads": "1"}, {"seq": "8", "threads": "1"}], d
for p in d["points"]:
    assert [c["name"] for c in p["contestants"]] == ["guess", "naive"] and p["winner"] in (None, "guess"), p
    assert all(c["status"] == "VALID" and c["median_ns"] > 0 for c in p["contestants"]), p
    assert (p["times"] is None) == (p["winner"] is None), p
page = open("s.html").read()
assert "Who wins where?" in page and page.count("<figure>") == page.count("</figure>") == 1, page[:300]
assert page.count("<path class=\"line ") == 2 and "http" not in page.replace("http-equiv", "")
d["points"] = d["points"][:1]
d["points"][0]["contestants"][0]["median_ns"] = 123e9
d["model"] = "bert-tiny"
json.dump(d, open("part.json", "w"))
d["asked"]["schemas"] = ["rows"]
json.dump(d, open("other.json", "w"))
PY
    # what was measured is not measured again, and more values may be asked for
    expect 0 'guess 123 s' bench bert-tiny --sweep seq=4,8 --sweep threads=1 $quick --resume part.json
    expect 0 'seq=8 threads=1' bench bert-tiny --sweep seq=4,8 --sweep threads=1 $quick --resume part.json
    expect 2 'the sweep was of another model, or other options' bench bert-tiny --sweep seq=4,8 --sweep threads=1 $quick --resume other.json
    expect 0 'wrote again.html' report s.json -o again.html
    cmp -s s.html again.html || wrong "report makes another page of the same sweep"
    expect 2 'one of them says the extent' bench bert-tiny --sweep seq=4 --dim seq=8 $quick
    expect 2 '8 is given twice' bench bert-tiny --sweep seq=8,8 $quick
    expect 2 '"0" is no number of threads' bench bert-tiny --sweep threads=0 $quick
    expect 2 '"x" is no extent' bench bert-tiny --sweep seq=4,x $quick # before any race
    expect 0 'models=gpt2-tiny threads=1' bench bert-tiny --sweep models=gpt2-tiny --sweep threads=1 $quick
    expect 2 '"" is no model' bench bert-tiny --sweep models=gpt2-tiny, $quick
    expect 2 'bert-tiny is given twice' bench bert-tiny --sweep models=bert-tiny $quick
    expect 2 'belongs to one race' bench bert-tiny --sweep seq=8 $quick --profile
}
for text in '{"format":"sweep/1"}' '{"format":"sweep/1","axes":[{"values":["1"]}],"points":[1]}' \
    '{"format":"sweep/1","axes":[{"values":[1]}],"points":[{}]}'; do
    printf '%s' "$text" >bad.json
    expect 3 'its axes and points do not fit' report bad.json -o bad.html
done
finish
