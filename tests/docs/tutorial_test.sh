#!/bin/sh
# Every command on these pages works as it stands: their blocks marked sh are run, page by page in an empty folder. ctest: large
set -eu
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
mkdir "$here/bin"
ln -s "$TESSERA" "$here/bin/tessera"
PATH=$here/bin:$PATH
export PATH
for page in tutorial built-in training; do
    awk '/^```sh$/ { on = 1; n++; next } /^```$/ { on = 0 } on { print } END { exit !n }' "$SOURCE/docs/$page.md" >"$here/$page.sh" ||
        { echo "$page.md has no commands"; exit 1; }
    mkdir "$here/$page"
    echo "== $page.md: $(grep -c '^tessera' "$here/$page.sh") commands of ours"
    (cd "$here/$page" && sh -eux ../$page.sh)
done
# What the pages say comes out.
cd "$here/tutorial"
for file in out/last_hidden_state.npy results.json report.html mine.json guess.json; do
    [ -s $file ] || { echo "tutorial.md: no $file"; exit 1; }
done
[ -s "$here/built-in/second/logits.npy" ]
[ -s "$here/training/run/report.html" ]
