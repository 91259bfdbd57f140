#!/bin/sh
# layers.sh - an include, and a call, points to the same folder or down. The tables below are the whole rule: a row names
# what stands in rows before it. What stands at the top of the tree is told here, too: nothing else belongs there.
# ctest: fast
set -eu
cd "${SOURCE:-$(dirname "$0")/..}"
top='.ci .clang-format .gitignore CMakeLists.txt DESIGN.md LICENSE README.md STYLE.md autodiff backends bench cli cmake dev docs
graph import include models schedule tests train'
stray=$(git ls-files | sed 's|/.*||' | sort -u | grep -vxF "$(printf '%s\n' $top)" || true)
[ -z "$stray" ] || { echo "at the top of the tree:" $stray; exit 1; }
layers='
base      api
probe
ir        api base
affine    api base ir
eval      api base ir
onnx      api base ir eval
routines
ops       api base ir affine eval
passes    api base ir affine
autodiff  api base ir affine eval passes
import    api base ir onnx affine eval passes
schedule/plan     api base ir affine
schedule/nest     api base ir affine schedule/plan
schedule/schema   api base ir affine schedule/plan schedule/nest
schedule/fuse     api base ir affine schedule/plan
schedule/passes   api base ir affine eval passes schedule/plan schedule/nest schedule/schema schedule/fuse
schedule/place    api base ir affine schedule/plan schedule/nest schedule/schema schedule/fuse schedule/passes
schedule/explain  api base ir affine schedule/plan schedule/nest schedule/schema schedule/fuse schedule/passes schedule/place
schedule  api base ir affine passes
runtime
backends  api base ir eval schedule runtime
cache     api base backends
codegen   api base ir affine schedule backends
cpu       api base ir affine schedule backends probe
gpu       api base ir affine schedule backends
device    api base ir affine eval schedule backends codegen runtime
emit      api base ir affine eval schedule backends cache codegen device runtime
target    api base ir affine eval schedule backends cpu gpu cache codegen device emit runtime
emitted   runtime
models    api
report    api base
machine   api base probe
train     api base report machine
bench     api base report machine train probe
cli       api base report machine bench train models
'
rooms='
function layer(path,   room) {
    if (path ~ /^include\// || path ~ /^tessera(_shared)?\.h$/) return "api"
    if (path ~ /^graph\/[^\/]+\//) { split(path, room, "/"); return room[2] }
    if (path ~ /^bench\/(report|machine)\//) { split(path, room, "/"); return room[2] }
    if (path ~ /^backends\/[^\/]+\/runtime\//) return "runtime"
    if (path ~ /^train\/emitted\//) return "emitted"
    if (path ~ /^backends\/(cache|cpu|gpu|codegen|device|emit|probe)\//) { split(path, room, "/"); return room[2] }
    if (path ~ /^schedule\/[^\/]+\//) { split(path, room, "/"); return "schedule/" room[2] }
    if (path ~ /^backends\/[^\/]+\//) { sub(/\/[^\/]*$/, "", path); return path } # one target never sees another
    sub(/\/.*/, "", path)
    return path
}
function kind(l) { return l ~ /^backends\// ? "target" : l }
function allowed(from, to) { # "schedule" stands for its rooms, too
    return to == from || (kind(from), kind(to)) in may || (to ~ /^schedule\// && (from == "schedule" || (kind(from), "schedule") in may))
}
'
git ls-files -co --exclude-standard -- '*.c' '*.h' ':!tests' | xargs awk -v layers="$layers" "$rooms"'
BEGIN {
    n = split(layers, row, "\n")
    for (i = 1; i <= n; i++) {
        k = split(row[i], word, " ")
        for (j = 2; j <= k; j++) may[word[1], word[j]] = 1
        if (k) known[word[1]] = 1
    }
    known["api"] = 1
}
FNR == 1 { from = layer(FILENAME); files++; if (!(kind(from) in known)) complain("is in no layer") }
function complain(what) { print FILENAME ":" FNR ": " what; bad++ }
/^[ \t]*#[ \t]*include[ \t]*"/ {
    split($0, part, "\"")
    to = layer(part[2]); seen++
    # Everything from the root; generated headers (.pb-c.h) lie under the same path in the build folder.
    if (part[2] !~ /^tessera(_shared)?\.h$/ && part[2] !~ /\.pb-c\.h$/ && (getline dummy < part[2]) < 0)
        complain("\"" part[2] "\" is not a path from the root of the project")
    close(part[2])
    if (!allowed(from, to))
        complain(kind(from) " may not include \"" part[2] "\" (" to ")")
}
END { printf "layers: %d includes in %d files, %d against the rule\n", seen, files, bad; exit bad > 0 || !seen }
'

# What an object needs and another room defines is of a room that it may include, or of one of these below it: makers of
# nodes and adapters that graph/ir declares for all. Tools go in by the door of the library, include/. A file in front stands
# for itself alone.
calls='
ops       onnx routines
passes    ops
autodiff  ops onnx
import    ops onnx
schedule/passes ops
backends  onnx import
backends/appending.c ops
'
find "${BUILD:-build}"/CMakeFiles/objects.dir "${BUILD:-build}"/CMakeFiles/tool.dir -name '*.o' | xargs nm -A -g -P |
    sed 's|^.*/CMakeFiles/[a-z]*\.dir/||; s|\.o: | |' | awk -v layers="$layers$calls" "$rooms"'
BEGIN {
    n = split(layers, row, "\n")
    place["api"] = 1
    for (i = 1; i <= n; i++) {
        k = split(row[i], word, " ")
        from = word[1] ~ /\.c$/ ? kind(layer(word[1])) : word[1]
        if (k && !(from in place)) place[from] = i + 1
        for (j = 2; j <= k; j++) {
            may[word[1], word[j]] = 1
            if (!(word[j] in place) || place[word[j]] >= place[from]) { print "layers: " word[1] " -> " word[j] " points up"; bad++ }
        }
    }
    tools = " cli bench train models report machine emitted "
}
!($1 in there) { there[$1] = (getline line < $1) >= 0; close($1) }
!there[$1] { next } # its source was moved, or is a table that the build writes
$3 == "U" { need[++needs] = $1 " " $2; next }
{ home[$2] = $1 }
END {
    for (i = 1; i <= needs; i++) {
        split(need[i], word, " ")
        if (!(word[2] in home)) continue
        from = layer(word[1]); to = layer(home[word[2]]); calls++
        if (allowed(from, to) || (word[1], to) in may || (word[2] ~ /^ts_/ && index(tools, " " from " "))) continue
        print word[1] ": " from " may not call " word[2] " (" home[word[2]] ")"; bad++
    }
    printf "layers: %d calls beyond a file, %d against the rule\n", calls, bad
    exit bad > 0 || !calls
}'
