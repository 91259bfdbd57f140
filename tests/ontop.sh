#!/bin/sh
# ontop.sh - adding something is a new file and no edit. Into a copy of the tree go the files of tests/ontop: an
# operation, a reader, a back end with a target (roles, spaces, a matrix unit) and a language of its own, a model, a verb,
# schemas and tests, and the files that docs/extending.md shows, a recogniser, a task and an optimizer among them; the copy
# is built, each of them is used once, the page's commands are run, and git must see new files only.
# ctest: large
set -eu
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cd "$SOURCE"
git ls-files -co --exclude-standard -z | xargs -0 cp --parents -t "$copy"
cd "$copy"
git init -q .
git add -A
# What stands in the page's blocks: of kind sh as a script, of others in the file that their first line names.
awk '
    /^```sh$/ { out = ".git/page.sh"; next }
    /^```[a-z]+ [a-z]/ { out = room = $2; sub(/\/[^\/]*$/, "", room); system("mkdir -p " room)
                         print "./" out >".git/shown"; next }
    /^```$/ { if (out != "" && out != ".git/page.sh") close(out); out = ""; next }
    out != "" { print >out }' docs/extending.md
[ "$(wc -l <.git/shown)" -ge 6 ] || { echo "docs/extending.md shows no files"; exit 1; }
# What the page shows is as the tree has it.
for check in layers names twice called banned sizes; do
    SOURCE=$copy sh tests/$check.sh >.git/out 2>&1 ||
        { echo "with what docs/extending.md shows, $check.sh says:"; cat .git/out; exit 1; }
done
if command -v clang-format >/dev/null; then
    grep '\.[ch]$' .git/shown | xargs clang-format --dry-run -Werror ||
        { echo "docs/extending.md is not formatted"; exit 1; }
fi
(cd tests/ontop && find . -type f) >"$copy/.git/fixtures"
while read -r file; do
    [ ! -e "$file" ] || { echo "$file exists already: a fixture must be a new file"; exit 1; }
done <"$copy/.git/fixtures"
cp -R tests/ontop/. .
cat .git/shown >>.git/fixtures
# Most sources are those of the build that is tested: its objects are taken.
. "$SOURCE/tests/backends/taken.sh"
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE='-O0 -DNDEBUG' -DCMAKE_C_COMPILER_LAUNCHER="$launcher" \
    >build.log || { cat build.log; exit 1; }
cmake --build build -j 2 --target command added-test language-test >build.log || { grep -v '^\[' build.log; exit 1; }

# And as ./dev check has clang see it, beside the compiler of the build.
if command -v clang >/dev/null; then
    python3 - .git/shown <<'END'
import json, os, shlex, subprocess, sys
shown, bad = {os.path.realpath(f.strip()) for f in open(sys.argv[1])}, 0
seen = [c for c in json.load(open("build/compile_commands.json")) if c["file"] in shown]
for c in seen:
    words = shlex.split(c["command"])
    flags = words[next(i for i, w in enumerate(words) if w.startswith("-")):]
    bad += subprocess.run(["clang", "-fsyntax-only", *flags], cwd=c["directory"]).returncode != 0
sys.exit(bad > 0 or len(seen) < 6)
END
fi

PATH=$copy/build:$PATH
want() { # want WHAT PATTERN COMMAND...: COMMAND succeeds and prints a line with PATTERN
    what=$1 pattern=$2
    shift 2
    "$@" >out 2>&1 && grep -q "$pattern" out || { echo "$what: no line with '$pattern' from: $*"; cat out; exit 1; }
    rm out
}
run() { # run WHAT MODEL [OPTION...]: on random inputs it leaves a result
    what=$1
    shift
    tessera run "$@" --seed 1 --out out.dir >out 2>&1 && [ -s out.dir/y.npy ] ||
        { echo "$what: no result from: tessera run $*"; cat out; exit 1; }
    rm -r out out.dir
}
printf 'ontop 4' >file.ontop
want operation ontop_cube tessera ops
want verb 'on top' tessera ontop
want 'back end' ontop tessera doctor
run model ontop-model --dim n=3
run reader file.ontop
run 'back end' ontop-model --target ontop
run schema ontop-model -s ontop
build/tests/added-test
build/tests/language-test
rm file.ontop build.log
mkdir "$copy/.git/page"
(cd "$copy/.git/page" && sh -eux ../page.sh >../page.log 2>&1) || { echo "docs/extending.md:"; cat .git/page.log; exit 1; }
changed=$(git diff --name-only)
[ -z "$changed" ] || { echo "tracked files changed:"; echo "$changed"; exit 1; }
new=$(git ls-files -o --exclude-standard | sort)
[ "$new" = "$(sed 's,^\./,,' .git/fixtures | sort)" ] || { echo "files left behind:"; echo "$new"; exit 1; }
