# The generated pages are what the tables say; `./dev bless` renews them.
# ctest: large
. "$SOURCE/tests/cli/expect.sh"

page() { # page FILE ARGUMENT...: docs/FILE is what the command prints
    checked=$((checked + 1))
    name=$1
    shift
    "$TESSERA" "$@" --markdown >"$dir/$name" || wrong "no Markdown from tessera $*"
    [ -z "${BLESS:-}" ] || cp "$dir/$name" "$SOURCE/docs/$name"
    diff -u "$SOURCE/docs/$name" "$dir/$name" >&2 || wrong "docs/$name is stale: ./dev bless writes it"
}

page commands.md help
page operators.md ops --onnx
page gradients.md ops --grad
# Drawings are those of the nests above them.
for name in notation.md tutorial.md; do
    checked=$((checked + 1))
    python3 "$SOURCE/tests/docs/notation.py" "$SOURCE/docs/$name" >"$dir/$name" || wrong "notation.py fails on $name"
    [ -z "${BLESS:-}" ] || cp "$dir/$name" "$SOURCE/docs/$name"
    diff -u "$SOURCE/docs/$name" "$dir/$name" >&2 || wrong "docs/$name is stale: ./dev bless writes it"
done
# README has as many cases that pass as are not known to fail.
checked=$((checked + 1))
failing=$(grep -c '^[A-Z]' "$SOURCE/tests/import/conformance.failing")
grep -q "Of 2,706 cases of the ONNX project 2,$((706 - failing)) pass" "$SOURCE/README.md" || wrong "README: $failing of 2,706 cases fail"

# DESIGN.md has the passes that there are, in their order and words.
checked=$((checked + 1))
"$TESSERA" help passes --json |
    python3 -c 'import json, sys; print(*("| %(name)s | %(of)s | %(does)s |" % p for p in json.load(sys.stdin)), sep="\n")' >"$dir/passes"
[ -s "$dir/passes" ] || wrong "tessera help passes --json lists none"
awk -v passes="$dir/passes" '/^$/ { table = 0 }
    table < 2 { print }
    /^\| pass \| of \| does \|$/ || table { if (++table == 2) while ((getline row <passes) > 0) print row }' "$SOURCE/DESIGN.md" >"$dir/DESIGN.md"
[ -z "${BLESS:-}" ] || cp "$dir/DESIGN.md" "$SOURCE/DESIGN.md"
diff -u "$SOURCE/DESIGN.md" "$dir/DESIGN.md" >&2 || wrong "the passes of DESIGN.md are stale: ./dev bless writes them"
# Each is a file of its name.
while read -r _ name _ of _; do
    case $of in plan) from="schedule/fuse schedule/passes schedule/place graph/ir" ;; *) from=backends/codegen ;; esac
    found=$(for folder in $from; do ls "$SOURCE/$folder/$name.c" 2>/dev/null; done || true)
    [ -n "$found" ] || wrong "the pass $name has no file of its name in $from"
done <"$dir/passes"
# `-` is what the page says
writes() { # BEGINNING ARGUMENT...: standard output holds a line that begins so
    checked=$((checked + 1))
    text=$1
    shift
    "$TESSERA" "$@" -q <"$dir/results.json" 2>"$dir/err" | grep -q "^$text" || wrong "tessera $*: no $text" "$(cat "$dir/err")"
}
set -- --dim m=8 --dim n=32 --dim k=32 --dim layers=1 --launches 1 --min-time 10ms -q
"$TESSERA" bench products "$@" -o - >"$dir/results.json" || wrong "bench -o - fails"
writes '<!DOCTYPE html>' report - -o -
writes 'guess (-) vs guess (' compare "$dir/results.json" -
writes '<!DOCTYPE html>' bench products "$@" --report -
writes 'digraph' show bert-tiny --dot -
writes '  "format": "tiling/1"' schema init resnet-tiny -o -
cd "$dir" || exit 1
expect 3 'no schema "-"' schema lint - bert-tiny
expect 8 'no file, folder or built-in model "-"' run -
"$TESSERA" help --man >"$dir/tessera.1" || wrong "no manual page"
if command -v groff >/dev/null; then
    checked=$((checked + 1))
    groff -man -Tascii -ww "$dir/tessera.1" >/dev/null 2>"$dir/err" || wrong "groff fails"
    [ -s "$dir/err" ] && wrong "groff complains about the manual page" "$(head -5 "$dir/err")"
fi
finish
