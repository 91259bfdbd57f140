#!/bin/sh
# schema_files_test.sh - schema fmt: one layout, comments and all; schema diff: rule by rule, whatever the layout.  ctest: fast
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
for file in "$SOURCE"/backends/c/schemas/*.json; do # these have that layout, but for where long lines end
    "$TESSERA" schema fmt "$file" -o once.json -q || wrong "schema fmt $file"
    "$TESSERA" schema fmt once.json >twice.json || wrong "schema fmt of what it wrote"
    cmp -s once.json twice.json || wrong "schema fmt $file: another layout the second time"
    checked=$((checked + 1))
    python3 -c 'import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
assert a == b and list(a) == list(b) and max(map(len, open(sys.argv[2]))) <= 900, (a, b)' "$file" once.json || wrong "schema fmt changed $file"
    expect 0 'no difference' schema diff "$file" once.json
done
printf '{"format":"tiling/1","//":"why","rules":[{"name":"a","match":{"op":"matmul"},"loops":"guess"},{"name":"b","loops":["m n k"]}]}' >one.json
printf '{"rules":[{"loops":["m k n"],"name":"b"},{"name":"c","loops":"guess"}, {"name":"a","match":{"op":"matmul"},"loops":"guess"}],"format":"tiling/1","target":"c"}' >two.json
"$TESSERA" schema fmt one.json >got
cat >want <<'TEXT'
{
  "format": "tiling/1",
  "//": "why",
  "rules": [
    { "name": "a", "match": { "op": "matmul" }, "loops": "guess" },
    { "name": "b", "loops": ["m n k"] }
  ]
}
TEXT
diff want got || wrong "the layout of schema fmt"
"$TESSERA" schema diff one.json two.json >got && wrong "schema diff of two schemas ends with 0"
cat >want <<'TEXT'
rules/b/loops
  - ["m n k"]
  + ["m k n"]
rules/c
  + {"name":"c","loops":"guess"}
rules
  - a, b
  + b, a
target
  + "c"
TEXT
diff want got || wrong "what schema diff says"
checked=$((checked + 2))
expect 3 'expected in it' schema fmt "$SOURCE/docs/formats/tiling.json"
echo '{ "format": "tiling/1", "rules": [ }' >bad.json
expect 3 'bad.json:1:' schema diff one.json bad.json
expect 3 'no schema "nobody"' schema diff one.json nobody
expect 2 'lint, list and diff write no file' schema diff one.json two.json -o out.txt
expect 0 'of weights, ' schema lint rows bert-tiny --dim seq=8 --threads 1

# why loops cannot be chosen: two steps that may not change places
echo '{"format":"tiling/1","name":"none","rules":[{"match":{"op":"scan"},"loops":"b c@core"}]}' >own.json
expect 3 'c = 1 starts from what c = 0 leaves' schema lint own.json 'cumsum f32[8,32] axis=1'
echo '{"format":"tiling/1","name":"none","rules":[{"match":{"op":"scatter"},"loops":"b c@core"}]}' >own.json
expect 3 'two updates may write one element' schema lint own.json 'scatter f32[8] i64[4]<8 f32[4]'
finish
