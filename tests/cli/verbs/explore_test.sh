#!/bin/sh
# The page of `tessera explore`: one file, names escaped, kernels found in the graph; in a browser, where one is
# installed, each action within 100 ms.
# ctest: large
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1

expect 0 'wrote tiny.html' explore bert-tiny --dim batch=1 --dim seq=16 -s guess -s rows --threads 1 -o tiny.html
expect 0 'wrote base.html' explore bert-base --dim batch=1 --dim seq=128 -s guess -s rows --threads 1 -o base.html
expect 2 'more than 8 schemas' explore bert-tiny -s rows -s rows -s rows -s rows -s rows -s rows -s rows -s rows -s rows
checked=$((checked + 1))
[ "$(wc -c <base.html)" -le 700000 ] || wrong "the page of BERT-base has $(wc -c <base.html) bytes"
grep -qE '(src|href)=.?(https?:)?//' tiny.html && wrong 'the page asks a network'

cat >odd.json <<'JSON'
{ "format": "graph/1", "name": "odd", "opset": { "": 17 },
  "inputs": [ { "name": "</script><script>foreign = 1</script><img src=x>", "dtype": "f32", "shape": [2, 3] } ],
  "outputs": [ { "name": "<b>&\"'" } ],
  "nodes": [ { "op": "Softmax", "in": ["</script><script>foreign = 1</script><img src=x>"], "out": ["<b>&\"'"] } ] }
JSON
expect 0 'wrote odd.html' explore odd.json -o odd.html
[ "$(grep -c '<script' odd.html)" = 2 ] || wrong "$(grep -c '<script' odd.html) lines with scripts, 2 are ours"

# Of results: the model and schemas of the race, with what it measured.
"$TESSERA" bench bert-tiny --dim batch=1 --dim seq=16 -s guess -s rows --threads 1 --launches 1 --min-time 20ms -q \
    -o results.json || wrong 'bench fails'
expect 0 'wrote race.html' explore results.json -o race.html
expect 2 'was settled when the race began' explore results.json -s rows -o other.html
sed 's|"name": *"bert-tiny"|"name":"gone.onnx"|' results.json >gone.json
expect 8 '"gone.onnx"' explore gone.json -o other.html
python3 - <<'PY' || wrong 'the race is not in its page'
import json, re
data = json.loads(re.search('id="data">(.*?)</script>', open("race.html").read(), re.S).group(1))
assert [r["name"] for r in data["race"]["rows"]] == ["guess", "rows"]
assert all(k[3] > 0 for p in data["plans"] for k in p["kernels"]), "kernels without their times"
assert any("for (" in t for t in data["texts"])
PY

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$browser" ] || { echo 'no browser: the page was not opened'; finish; }
for page in tiny base odd race; do
    checked=$((checked + 1))
    # The policy lets no other script run than the page's own: it goes, so that ours can ask.
    python3 - "$page.html" "$SOURCE/tests/cli/verbs/explore.js" <<'PY'
import re, sys
page = re.sub('<meta http-equiv="Content-Security-Policy"[^>]*>', "", open(sys.argv[1]).read())
open("asked.html", "w").write(page.replace("</body>", "<script>" + open(sys.argv[2]).read() + "</script></body>"))
PY
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$dir/profile" --window-size=1280,900 \
        --dump-dom "file://$dir/asked.html" >dom.html 2>browser.txt || { echo 'the browser does not start here'; finish; }
    python3 - "$page" <<'PY' || wrong "the page of $page"
import html, json, re, sys
said = json.loads(html.unescape(re.findall('<pre id="said">(.*?)</pre>', open("dom.html").read(), re.S)[-1]))
print(sys.argv[1], said)
assert not said["errors"] and not said["foreign"], said
assert said["first"] > 1 and said["loops"] > 0 and said["text"] > 0 and said["rule"], said
assert max(said["lost"]) == 0, "kernels that stand nowhere in the graph"
if sys.argv[1] == "base":
    assert said["folded"] < 20 < 400 < said["all"], said
    slow = {k: v for k, v in said.items() if k in ("open", "repeats", "choose", "step", "find", "toggle", "schema") and v > 100}
    assert not slow, slow
PY
done
finish
