#!/bin/sh
# sizes.sh - files of at most 800 lines, functions of at most 80 lines and 6 parameters, lines no longer than
# .clang-format says; says what is wanted (500, 40); a machine in software (tests/gpusim) has functions of up to 150:
# one is a case for each instruction. A list and its count are one parameter; parameters are as they are where somebody
# else's interface says them (a driver's and libFuzzer's), and ts_weight has seven, which every program that makes a
# model calls. Each room keeps within its budget, in lines of C and Python: a round number with room for a file or two,
# so that adding one is no edit here, and a raised budget is a decision. Says what share of a room's lines carries a
# comment, blank ones aside: of all rooms but the tests at least 10 in a hundred (STYLE.md). CMakeLists.txt, which people
# read first to learn how all is built, and each file that it includes have at most 120 lines.
# ctest: fast
set -eu
cd "${SOURCE:-$(dirname "$0")/..}"
budget='
include                  1000  the public header: to be read in one sitting
graph                   34250  the table of operations is half of it
import                  12000  ONNX, JSON, safetensors, tokenizers; all of it distrusted
autodiff                 4500  the chain rule, forward mode, batches, optimizers
schedule                  250  the table of passes
schedule/plan            2500  kernels, stages, values, targets
schedule/nest            2500  the notation of loops
schedule/schema          1750  rules, and loops by them
schedule/fuse            2500  nodes become kernels
schedule/passes          6250  a file for each other step
schedule/place           1000  plans over several devices
schedule/explain         2000  what people read of a plan
backends                 5500  driver, runner, weights: what back ends share
backends/codegen        15750  nests to text, for every C-like language
backends/cpu             3000  processors as a target, and what is measured of them
backends/cache           1750  what was compiled
backends/probe           1000  loops that keep a core busy, for benchmarks and back ends
backends/c               4000  compiler, loader, team of threads
backends/emit            1500  programs of their own
backends/device          1750  programs on devices: tables, texts, runs, here and in what is emitted
backends/interp           500  evaluates definitions
backends/null              50  plans, and emits nothing
backends/gpu             2500  graphics processors as a target
backends/opencl          2250  a dialect and a device
backends/cuda            3000  a dialect and a device
bench                    6250  race, statistics, peers
bench/report             5750  a page of sections
bench/machine             750  clock, processors, ceilings
train                   12000  fine-tuning, generation, export
models                   2000  on the public header alone
cli                     13750  a file for each verb
tests                   58500  about half of what they test
bench/tune               1500  a search for loops, its log and rules
tests/gpusim            10750  a driver and a card in software
tests/plainc             1000  what one would write in plain C, held and timed against ours
'
columns=$(sed -n 's/^ColumnLimit: //p' .clang-format)
[ -n "$columns" ] || { echo "sizes: .clang-format has no ColumnLimit"; exit 1; }
git ls-files -co --exclude-standard -- CMakeLists.txt '*.cmake' | while read -r file; do
    [ "$(wc -l <"$file")" -le 120 ] || { echo "$file: 120 lines are the most"; exit 1; }
done
git ls-files -co --exclude-standard -- '*.c' '*.h' | LC_ALL=C xargs awk -v columns="$columns" '
function complain(what) { print FILENAME ":" FNR ": " what; bad++ }
function end_of_file() {
    if (!name) return
    files++
    if (lines > 800) { print name ": " lines " lines; 800 is the most"; bad++ }
    if (lines > 500) large = large "\n  " lines " lines: " name
    if (lines > longest) longest = lines
}
FNR == 1 { end_of_file(); name = FILENAME; start = 0 }
{
    lines = FNR
    text = $0
    gsub(/[\200-\277]/, "", text) # UTF-8: one column a character
    if (length(text) > columns) complain("line of " length(text) " columns; " columns " is the most")
}
/^[A-Za-z_].*\(/ { head = $0 }
/^{/ { start = FNR }
/^}/ && start {
    n = FNR - start + 1
    start = 0
    count[n]++; functions++
    sub(/\(.*/, "", head); sub(/.*[ *]/, "", head)
    most = FILENAME ~ /^tests\/gpusim\// ? 150 : 80
    if (n > most) complain(head " has " n " lines; " most " is the most")
    if (n > 40 && most == 80) long = long "\n  " n " lines: " head " (" FILENAME ")"
}
END {
    end_of_file()
    for (n = 0; 2 * seen < functions; n++) { seen += count[n] }
    if (large) print "files over the 500 lines wanted:" large
    if (long) print "functions over the 40 lines wanted:" long
    printf "sizes: %d files, longest %d lines; %d functions, median %d lines; %d over the limits\n", \
        files, longest, functions, n - 1, bad
    exit bad > 0 || !functions
}'
# libFuzzer calls what begins with LLVMFuzzer.
parameters=$(git ls-files -co --exclude-standard -- '*.c' '*.h' ':!tests/gpusim' ':!tests/oclapart' ':!tests/mpiabi' | LC_ALL=C xargs awk -v strings=no -f tests/source.awk |
    LC_ALL=C awk '
# How many there are in "(...)", a list and its count being one; 0: the list is not closed yet.
function parameters(s,   i, c, depth, n, most, part) {
    for (i = n = 1; i <= length(s); i++) {
        c = substr(s, i, 1)
        if (c == "(") depth++
        else if (c == ")" && --depth == 0) break
        if (c == "," && depth == 1) n++
        else part[n] = part[n] c
    }
    most = n
    for (i = 1; i < n; i++)
        if ((part[i] ~ count && part[i + 1] ~ /[*\[]/) || (part[i] ~ /[*\[]/ && part[i + 1] ~ count)) { most--; i++ }
    return depth ? 0 : most
}
BEGIN { count = "^[( ]*(int|int64_t|size_t|uint32_t) (n|m|n_[a-z]+|count|rank|size|most|max)$" }
{
    match($0, /^[^:]*:[0-9]+:/)
    where = substr($0, 1, RLENGTH - 1); code = substr($0, RLENGTH + 1)
    if (code ~ /^[A-Za-z_].*\(/ && code !~ /^typedef /) { head = code; at = where }
    else if (code ~ /^[{}#]/) head = ""
    else if (head != "") head = head " " code
    if (head == "" || !(n = parameters(substr(head, index(head, "("))))) next
    name = head; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name); driver = head ~ /\(cl_/; head = ""; heads++
    if (n > 6 && !driver && name != "ts_weight" && name !~ /^LLVMFuzzer/)
        print at ": " name " has " n " parameters; 6 are the most, then a struct"
}
END { if (!heads) print "sizes: no function has a head" }')
[ -z "$parameters" ] || { echo "$parameters"; exit 1; }
wide=$(git ls-files -co --exclude-standard -- '*.py' | LC_ALL=C xargs awk -v columns="$columns" '
    { text = $0; gsub(/[\200-\277]/, "", text) }
    length(text) > columns { print FILENAME ":" FNR ": line of " length(text) " columns; " columns " is the most" }')
[ -z "$wide" ] || { echo "$wide"; exit 1; }
git ls-files -co --exclude-standard -- '*.c' '*.h' '*.py' | xargs awk -v budget="$budget" '
# The row of the longest folder that the file lies in.
function room(path) {
    while (sub(/\/[^\/]*$/, "", path)) if (path in most) return path
    return ""
}
BEGIN {
    for (n = split(budget, row, "\n"); n > 0; n--) if (split(row[n], word, " ") > 1) most[word[1]] = word[2]
}
FNR == 1 { at = room(FILENAME); if (at == "") { print FILENAME ": in no budget of tests/sizes.sh"; bad++ } }
{ lines[at]++; total++ }
END {
    for (at in most) {
        if (lines[at] > most[at]) {
            print at ": " lines[at] " lines, " most[at] " are allowed; take something out"
            bad++
        }
        allowed += most[at]
    }
    printf "sizes: %d lines of %d allowed\n", total, allowed
    exit bad > 0 || !total
}'
git ls-files -co --exclude-standard -- '*.c' '*.h' | xargs awk -v budget="$budget" '
function room(path) {
    while (sub(/\/[^\/]*$/, "", path)) if (path in known) return path
    return ""
}
BEGIN { for (n = split(budget, row, "\n"); n > 0; n--) if (split(row[n], word, " ") > 1) known[word[1]] = 1 }
FNR == 1 { at = room(FILENAME); inside = 0 }
/[^ \t]/ {
    line = $0; gsub(/"([^"\\]|\\.)*"/, "", line)
    carries = inside || line ~ /\/\*|\/\//
    if (line ~ /\/\*/) inside = 1
    if (line ~ /\*\/[^\/]*$/) inside = 0
    lines[at]++; comments[at] += carries
    if (at !~ /^tests/) { all++; said += carries }
}
END {
    for (at in lines) shown = shown sprintf(", %s %.1f", at, 100 * comments[at] / lines[at])
    printf "sizes: %.2f of 100 lines carry a comment%s\n", 100 * said / all, shown
    if (100 * said < 10 * all) print "sizes: of 100 lines at least 10 are to carry a comment, tests aside (STYLE.md)"
    exit 100 * said < 10 * all
}'
